"""The model file: writing, reading and checking it."""
