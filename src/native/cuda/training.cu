// All kernels of training, compiled together.
#include "cuda/evaluation.cu"
#include "cuda/gradients.cu"
#include "cuda/leaf_sums.cu"
#include "cuda/level.cu"
#if EPIBOOST_MONOTONE
#include "cuda/monotone.cu"
#endif
#include "cuda/sample.cu"
#include "cuda/table.cu"
