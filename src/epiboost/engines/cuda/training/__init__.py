"""Training of chains on a GPU, with the bits of the native core.

The kernels are in ``src/native/cuda``, next to the formulas of the native core that they include. The host computes
what the native core computes once per fit (`rows`), and what all rows share in one tree (`schedule`); it lays out the
memory (`plan`, `members`) and launches the kernels of one tree again and again (`trainer`). A `Backend` does what is
CuPy's; the tests have another one, which runs the same kernels on the processor.
"""

from epiboost.engines.cuda.training.trainer import train_on_gpu, unsupported

__all__ = ["train_on_gpu", "unsupported"]
