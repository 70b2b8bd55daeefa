"""The paper's experiments on real data, and our results compared with the published ones.

The data flow in one direction: a dataset becomes a `Problem` with its folds (`problem`), a method is trained and
evaluated on one fold (`methods`), the result is stored as a cell (`cells`), and tables are built from cells alone
(`tables`). `runner` runs the cells that are missing; `reproduce` is the entry point of the command line.
"""
