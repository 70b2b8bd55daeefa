"""Novelty of rows: how far they are from the training rows, in the columns themselves.

==============  =======================================================================================
file            what it does
==============  =======================================================================================
reference_rows  chooses the training rows that a model keeps
scales          scales of the columns, so that their distances can be added
values          single values that no training row has
surprise        turns any score into minus the logarithm of its probability in the domain
arrays          what a model file holds
novelty         the measure itself: distance to the nearest kept row, and the strangest single value
==============  =======================================================================================

Trees cannot measure it: bins clip what lies beyond their last border, and a gap between two borders has no bin.
"""
