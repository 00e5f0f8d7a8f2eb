"""What a position allows: positions enter, one or many; moves, their text and pictures, counts and outcomes leave."""
