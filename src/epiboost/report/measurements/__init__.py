"""From predictions and targets to the numbers of a report."""
