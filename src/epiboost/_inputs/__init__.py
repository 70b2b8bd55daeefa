"""What users pass: tables, columns, categories, targets and weights, checked once."""
