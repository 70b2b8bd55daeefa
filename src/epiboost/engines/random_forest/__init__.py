"""The engine over scikit-learn's random forests."""
