"""Tables in files and on standard input and output, by PyArrow.

- `formats`: CSV, TSV, JSON lines and Parquet, and how each is recognised
- `compression`: gzip, bzip2, xz and Zstandard
- `reading`: a table from a file or from standard input
- `writing`: a table to a file or to standard output
- `selection`: columns of a table, by name

PyArrow is imported by the function that needs it: it is slow to import.
"""
