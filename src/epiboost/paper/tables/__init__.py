"""The paper's tables, ours beside the published figures."""
