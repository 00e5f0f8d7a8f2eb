"""The Python face: documents in, stores and rulesets out, composed of what the rooms below do.

`store.Store` and `ruleset.Ruleset` are what users meet. Their parts (`history`, `tags`, `reviews`, `exchange`, ... of a
store; `pictures`, `columns`, `analysis` of a ruleset) are imported when they are first used, and take a session or a
`handle.Handle`, never the face itself. Keywords become one value where they come in (`LoadWishes` of `loading.wishes`,
`Wanted` of `moves.perft`). Files come in through `loading`, whose `gates` apply the policies, and positions
through `positions`.
"""
