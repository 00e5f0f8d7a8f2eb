"""State-driven game descriptions: a JSON specification in, checked, and the rules of a two-sided board game out.

The language is that of seed 004. A specification goes through three parts of this room:

* read: `reader` and `sections` make a `draft` of the JSON, with `complaints`; `expressions` are parsed here. The
  values that come out are those of `specification`.
* check: `types` looks at names and kinds of values (`language` lists them), `domains` at the values that variables and
  attributes can have; `findings` says what is suspicious (`trials`, `idle`, `directions`). `check` does all of it.
* compile: `kinds` become `identifiers`; `rules` are code (`ground`) over a `world` that is known in part, whose values
  are `diagrams`; what effects come to (`outcomes`) is written as conditions (`boxes`) and transitions. `compile` does
  all of it.

`functions` and `geometry` say what the functions of the language give, for all parts.
"""
