"""Drift: whether rows come from the distribution of reference rows, and which columns differ.

============  =========================================================================
file          what it does
============  =========================================================================
batch         tests a batch, column by column and jointly
permutations  statistics of the columns, and their p-values by permutations
monitor       watches a stream, at a bounded rate of false alarms
memory        ranks the rows of a stream among those before them
============  =========================================================================
"""
