"""Fairy-Stockfish's variants.ini: sections of options <-> definitions of games, or the reasons why not."""
