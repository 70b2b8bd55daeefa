"""Checks of trees that a model file holds, before a library sees them: one file per library.

A library trusts its own model files: a child that is no node, a cycle or a declared size can end or hang the process.
What passes these checks is what `to_file` of the engines writes and nothing else. `catboost_statistics` has the target
statistics of `catboost`; `flatbuffer` and `ubjson` are formats, `trees` has what the libraries share.
"""
