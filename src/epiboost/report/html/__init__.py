"""The HTML page of a report: template, style sheet, script, and the data they need."""
