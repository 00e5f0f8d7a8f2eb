"""Documents as values: squares, pieces, possibilities, state variables, and how boards lie."""
