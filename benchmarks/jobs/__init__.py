"""The jobs of the speed benchmark, by number. Each returns lines of the table."""

from collections.abc import Callable, Mapping

from results import Result

from jobs.effort import Effort
from jobs.prediction import predict_categories, predict_one_row, predict_ten, predict_virtual
from jobs.processes import imports, memory
from jobs.training import (
    train_one_chain,
    train_ten_on_categories,
    train_ten_on_classes,
    train_ten_on_digits,
    train_ten_on_kin8nm,
    train_ten_on_protein,
    train_ten_on_year,
)
from jobs.tree_shapes import predict_other_trees

JOBS: Mapping[int, Callable[[Effort], list[Result]]] = {
    1: train_ten_on_protein,
    2: train_one_chain,
    3: train_ten_on_kin8nm,
    4: train_ten_on_year,
    5: train_ten_on_classes,
    6: predict_ten,
    7: predict_virtual,
    8: predict_one_row,
    9: memory,
    10: imports,
    11: train_ten_on_categories,
    12: predict_categories,
    13: predict_other_trees,
    14: train_ten_on_digits,
}
LARGE_JOBS = (4, 9, 11, 12)
BY_SET = (1, 6, 7, 12, 13, 14)  # jobs that measure every instruction set of an Effort
