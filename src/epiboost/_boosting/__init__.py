"""The method of the paper "Uncertainty in Gradient Boosting via Ensembles" (ICLR 2021).

==================  ===================================================================================
file                the paper
==================  ===================================================================================
recipe              section 3: single models, SGB, SGLB and virtual ensembles
parameter_checks    errors of its parameters
objectives/         section 2, equations 9 and 10, and the natural gradient of the appendix
langevin            section 3, SGLB: the noise of equation 11 and the shrinkage of equation 12
step_sizes          section 3, SGLB: β = N, γ = 1 / (2 N), the variance 2 / (β ε) of the noise
truncation          section 3, virtual SGLB ensembles: the truncated models of one chain
variance_guard      beyond the paper: leave-one-out residuals for the standard deviation
capacity            beyond the paper: number, size and learning rate of the trees
early_stopping      beyond the paper: when the ensemble has enough trees
bootstrap           beyond the paper: members on bootstrap samples of the rows
out_of_fold         beyond the paper: which rows the chains leave out that calibrate the ensemble
rows                training rows for engines over other libraries, with the keys of their noise
gradient_grid       gradients whose sums are exact in any order, for distributed training
==================  ===================================================================================

Equations are counted through the paper; 7 to 15 are those of gradient boosting and its ensembles.
"""
