"""The posterior of a model, and its uncertainty split into data and knowledge."""
