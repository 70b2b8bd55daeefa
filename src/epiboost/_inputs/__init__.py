"""Reading and checking of user input: tables, columns, categories, targets and weights."""
