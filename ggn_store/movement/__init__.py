"""How a piece moves: what is derived of it once, when it is stored, and what analyses compare and put into words."""
