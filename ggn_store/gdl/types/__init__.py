"""What the expressions of a specification are about: kinds of values, names that exist, arguments that fit."""
