"""The values of the domain, in GGN's words: documents, boards, positions, moves. No input or output."""
