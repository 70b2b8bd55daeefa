"""Stored results of single runs.

A *cell* is the result of one method on one fold of one dataset with one engine. Each cell is one JSON file.
"""
