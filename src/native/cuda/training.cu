// All kernels of training, compiled together.
#include "cuda/evaluation.cu"
#include "cuda/gradients.cu"
#include "cuda/leaf_sums.cu"
#if EPIBOOST_LEAF_WISE
#include "cuda/leafwise/division.cu"
#include "cuda/leafwise/open_leaves.cu"
#if EPIBOOST_MONOTONE
#include "cuda/leafwise/monotone.cu"
#endif
#else
#include "cuda/level.cu"
#if EPIBOOST_MONOTONE
#include "cuda/monotone.cu"
#endif
#endif
#include "cuda/sample.cu"
#include "cuda/table.cu"
