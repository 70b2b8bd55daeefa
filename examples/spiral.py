"""
The spiral: overlapping classes and regions without rows
========================================================

Three arms, one per class. Along their borders classes overlap, so no model can be certain there: that is data
uncertainty. Knowledge uncertainty is the disagreement of the members, where training rows are few.
"""

from epiboost import EpiBoostClassifier
from epiboost.datasets import make_spiral
from epiboost.plots import RejectionDisplay, SpiralDisplay

train, test = make_spiral(3000, random_state=1), make_spiral(3000, noise=0.08, random_state=2)
model = EpiBoostClassifier(n_estimators=200, random_state=0).fit(train.X, train.y)
SpiralDisplay.from_estimator(model, train)

# %%
# Knowledge uncertainty is high on the borders too, most of all where arms meet in the middle and where they end. Far
# from all rows a tree predicts the same as at its last split, so knowledge uncertainty does not grow there.
#
# The test rows are noisier than the training rows. If the most uncertain rows are rejected, the error falls almost as
# fast as with an oracle that knows the errors.

display = RejectionDisplay.from_estimator(model, test.X, test.y)

# %%

uncertainty = model.predict_uncertainty(test.X)
wrong = model.predict(test.X) != test.y
print(f"{wrong.mean():.1%} of the predictions are wrong")
for share in (0.95, 0.9, 0.8):
    accepted = uncertainty.total.argsort()[: round(share * len(wrong))]
    print(f"of the {share:.0%} least uncertain predictions {wrong[accepted].mean():.1%} are wrong")
