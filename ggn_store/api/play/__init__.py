"""Games that are played with a ruleset: moves enter, as values or as an engine's lines; how the game stands leaves."""
