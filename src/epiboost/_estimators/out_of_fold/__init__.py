"""Calibration by out-of-fold chains: what a model learns about its own errors without rows of its own for that.

==================  ===================================================================================
file                what it does
==================  ===================================================================================
measurement         trains the chains and predicts each row by the one that has not seen it
disagreement        how much models differ that are trained on other rows, or with another seed
normal, categorical recalibration of the members' distributions
residual_shape      quantiles of a regression from out-of-fold residuals
cross_conformal     intervals and sets with a guarantee, by the chains themselves
==================  ===================================================================================
"""
