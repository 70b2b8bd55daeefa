"""
The spiral: classes that overlap, and places without rows
=========================================================

Three arms, one a class. Along their borders rows of different classes lie side by side, so no model can be sure
there: that is data uncertainty. How little the classifier knows of a place is knowledge uncertainty.
"""

from epiboost import EpiBoostClassifier
from epiboost.datasets import make_spiral
from epiboost.plots import RejectionDisplay, SpiralDisplay

train, test = make_spiral(3000, random_state=1), make_spiral(3000, noise=0.08, random_state=2)
model = EpiBoostClassifier(n_estimators=200, random_state=0).fit(train.X, train.y)
SpiralDisplay.from_estimator(model, train)

# %%
# Knowledge uncertainty is high on the borders too, most where arms meet in the middle and where they end. Far from
# all rows a tree says what it says at the edge, so do not expect it to be unsure there.
#
# What are the uncertainties worth? The test rows are noisier than those of the training. Hand the least sure of them
# to somebody who knows the answer, and the error falls almost as fast as it would by an oracle.

display = RejectionDisplay.from_estimator(model, test.X, test.y)

# %%

uncertainty = model.predict_uncertainty(test.X)
wrong = model.predict(test.X) != test.y
print(f"{wrong.mean():.1%} of the predictions are wrong")
for share in (0.95, 0.9, 0.8):
    kept = uncertainty.total.argsort()[: round(share * len(wrong))]
    print(f"of the {share:.0%} it is surest of, {wrong[kept].mean():.1%}")
