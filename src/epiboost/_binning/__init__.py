"""Numbers to bins, and rows in canonical order."""
