"""Training and prediction of the native engine's trees on a GPU, by kernels that CuPy compiles at first use."""
