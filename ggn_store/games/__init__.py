"""Games: a short definition of a game and its pieces in, the GGN document of all their moves out."""
