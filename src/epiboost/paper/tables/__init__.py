"""The paper's tables: our results and the published ones, in Markdown, LaTeX and CSV."""
