"""Training of an estimator.

================  =====================================================================================
file              what it does
================  =====================================================================================
ensemble          from training rows to a trained ensemble: folds, rows held out, capacity
run               trains the members, and the out-of-fold chains beside them
rounds            pauses after every so many trees: losses, early stopping, callbacks, lines of a log
stopping          which rows say when to stop
ensemble_loss     the loss of an ensemble, on rows it has not seen or by its out-of-fold chains
history           losses by number of trees
================  =====================================================================================
"""
