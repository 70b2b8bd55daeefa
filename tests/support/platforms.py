"""Marks of tests that need what not every system has."""

import os
import sys

import pytest

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="uses /proc, limits or error texts of Linux")
posix_only = pytest.mark.skipif(os.name != "posix", reason="Windows has no modes, locks, named pipes or forks")
