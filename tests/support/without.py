"""A plugin that hides libraries from the tests: EPIBOOST_WITHOUT="catboost xgboost" pytest -p tests.support.without."""

import os
import sys

for name in os.environ.get("EPIBOOST_WITHOUT", "").split():
    sys.modules[name] = None  # as if it were not installed
