"""Categories to numbers: target statistics, feature crosses, and their lookup at prediction."""
