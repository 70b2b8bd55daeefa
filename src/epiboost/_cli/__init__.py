"""The command line: one file per command, the training parameters as options, and `tables`."""
