"""Number of rows on which a tree chooses its splits, where it follows the task and the size of the trees.

Histograms of a regression, whose trees have two outputs, are packed into one word per bin as long as the weights of
their rows sum to less than 2^16 (``training/histogram.hpp``); beyond, training takes twice the time. Those of classes
have no such limit. A symmetric tree chooses few splits, each on all rows of the sample; the last splits of a leaf-wise
tree are chosen on the few rows of one leaf. In the same time, symmetric trees gain more from more trees than from more
rows, leaf-wise trees of classes the other way round (docs/defaults.md, "Splits from a sample").
"""

from epiboost._boosting.capacity import AUTO
from epiboost._boosting.recipe import MemberSpec

USUAL_ROWS = 62_000  # a random sample of them practically never exceeds 65,535
_ROWS_PER_LEAF = 800  # 200,000 for 255 leaves
_PACKED_OUTPUTS = 2


def split_rows(spec: MemberSpec, n_outputs: int) -> int | None:
    """Return the number of rows on which each tree of a chain chooses its splits; None for all.

    >>> from epiboost._boosting.capacity import Capacity
    >>> from epiboost._boosting.recipe import Recipe
    >>> deep = Recipe().with_capacity(Capacity(600, 0.2, None, 255)).specs(0)[0]
    >>> split_rows(deep, n_outputs=2), split_rows(deep, n_outputs=7)
    (62000, 204000)
    """
    if spec.structure_rows != AUTO:
        return spec.structure_rows
    if spec.max_leaves is None or n_outputs == _PACKED_OUTPUTS:
        return USUAL_ROWS
    return max(USUAL_ROWS, _ROWS_PER_LEAF * spec.max_leaves)
