"""State-driven game descriptions: a JSON specification in, checked, and the rules of a two-sided board game out."""
