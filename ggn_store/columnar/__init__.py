"""The rules of a revision in engines that work on columns, for many positions at once."""
