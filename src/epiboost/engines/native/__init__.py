"""The native engine: symmetric trees, trained and evaluated in C++."""
