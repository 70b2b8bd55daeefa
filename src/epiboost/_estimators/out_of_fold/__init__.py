"""Calibration by out-of-fold chains: what a model learns about its own errors without rows of its own for that.

==================  ===================================================================================
file                what it does
==================  ===================================================================================
options             which chains to train
tree_size           chooses the size of the trees by short chains
distinct_rows       rows without repetitions, so that measurements do not depend on their order
chains              which rows each chain sees, and what it predicts for those that it has not seen
measurement         measures the model by these predictions
disagreement        how much models differ that are trained on other rows, or with another seed
recalibration       of the members' distributions: normal, categorical, numbers (of other families, see number_fit)
residual_shape      quantiles of a regression from out-of-fold residuals
cross_conformal     intervals and sets with a guarantee, by the chains themselves
file                the part of a model file
==================  ===================================================================================
"""
