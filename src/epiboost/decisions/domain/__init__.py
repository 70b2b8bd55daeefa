"""Detection of out-of-domain rows, and what makes them foreign.

===========  ==========================================================================
file         what it does
===========  ==========================================================================
score        scores rows by novelty, by uncertainty, or by both
detector     learns a threshold at a false alarm rate
explanation  names the columns that make a row foreign, and the training rows like it
batches      what batches and streams of rows are compared by
===========  ==========================================================================
"""
