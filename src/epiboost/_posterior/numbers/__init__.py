"""The posterior of a number as one distribution, the mixture of its members.

================ =====================================================
module           holds
================ =====================================================
methods          distribution function, density, quantiles, expectations
mixtures         the same as functions of parameters, of any family
quadrature       expectations over members and over counts
draws            random draws
crps             continuous ranked probability score
scipy_view       the distribution of SciPy
================ =====================================================
"""
