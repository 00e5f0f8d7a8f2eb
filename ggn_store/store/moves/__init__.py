"""Which moves does a position allow, by SQL.

In: positions. Out: moves, counts and the positions after them. The reading query defines the answer; the fast query,
batches, chains and perft agree with it.
"""
