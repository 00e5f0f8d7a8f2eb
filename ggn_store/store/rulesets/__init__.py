"""Documents in, rows out, and back: loading, reading, digests, lanes.

In: a `Document`, or its pieces one by one. Out: a `Revision`, and pieces, boards and documents from rows, of which
`possibilities` is the one decoder. Nobody else writes the rows of a piece.
"""
