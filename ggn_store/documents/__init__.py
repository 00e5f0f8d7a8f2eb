"""Text <-> Document: the three dialects of GGN, read strictly and written canonically."""
