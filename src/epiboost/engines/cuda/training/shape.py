"""Sizes of chains that are trained together.

>>> Shape(rows=41_157, columns=9, outputs=2, depth=6, cells=256, trees=1000, packs=True).leaves
64
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of the largest chain.

    Attributes
    ----------
    rows, columns, outputs, depth, trees : int
    cells : int
        Cells of a histogram: the bins of the column with the most, rounded up to a multiple of four.
    sample_rows : int
        Upper bound of the rows that choose the splits; 0 for all rows.
    evaluation_rows : int
    given : int
        Number of trees that are there already.
    group_words : int
        32-bit words for the groups of interacting columns.
    targets : int
        Numbers per row in the target.
    guards_variance, subsamples : bool
    keeps_own_gradients : bool
        Whether the variance guard needs gradients without weight and noise.
    weighs_sample : bool
        Whether drawn rows have weights of their own.
    packs : bool
        Whether a cell of a histogram is one word of 64 bits.
    is_monotone : bool
        Whether a chain has monotone constraints.
    columns_at_once : int
        Columns whose histograms one block sums.
    max_leaves : int
        Leaves of a leaf-wise tree; 0 for symmetric trees.
    keeps_sums : bool
        Whether the prefix sums of the leaves of a leaf-wise tree are kept, so that of two sibling leaves one is summed.
    """

    rows: int
    columns: int
    outputs: int
    depth: int
    cells: int
    trees: int
    sample_rows: int = 0
    evaluation_rows: int = 0
    given: int = 0
    group_words: int = 0
    targets: int = 1
    guards_variance: bool = False
    keeps_own_gradients: bool = False
    subsamples: bool = False
    weighs_sample: bool = False
    packs: bool = False
    is_monotone: bool = False
    columns_at_once: int = 1
    max_leaves: int = 0
    keeps_sums: bool = True

    @property
    def leaves(self) -> int:
        """Number of leaves of a tree."""
        return self.max_leaves or 1 << self.depth

    @property
    def splits(self) -> int:
        """Number of splits of a tree, at most."""
        return self.max_leaves - 1 if self.max_leaves else self.depth

    @property
    def shared_leaves(self) -> int:
        """Number of leaves whose histograms several blocks sum at once."""
        return 2 if self.max_leaves else self.leaves // 2

    @property
    def most_pairs(self) -> int:
        """Number of pairs of leaves that monotone constraints may order in a leaf-wise tree."""
        return self.leaves * (self.leaves - 1) // 2

    @property
    def column_groups(self) -> int:
        """Number of blocks that share the columns."""
        return -(-self.columns // self.columns_at_once)

    @property
    def sum_lanes(self) -> int:
        """Number of sums of a leaf: gradients, the weight, and noise that monotone constraints average."""
        return self.outputs + 1 + self.is_monotone

    @property
    def planes(self) -> int:
        """Number of 32-bit numbers in a cell of a histogram."""
        return 2 if self.packs else self.outputs + 1

    @property
    def leaf_bytes(self) -> int:
        """Bytes of the histogram of one leaf and one column."""
        return self.planes * self.cells * 4

    @property
    def splitting_rows(self) -> int:
        """Number of rows that choose the splits, at most."""
        return self.sample_rows or self.rows
