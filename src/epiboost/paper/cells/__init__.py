"""Results of single runs: one JSON file per dataset, fold, method and engine."""
