"""The paper's experiments on real data, and our figures beside the published ones.

The flow goes one way: a dataset becomes a `Problem` with its folds; a method makes of one fold a `Cell`, which is one
JSON file; tables and figures are built from cells alone.
"""
