"""The native engine: symmetric and leaf-wise trees, trained and evaluated in C++."""
