"""Distributions of a target whose transform is predicted: the transforms, and a Normal taken back through one."""
