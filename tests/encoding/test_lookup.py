"""Lookup of keys in the native core."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from epiboost._native import native


@settings(max_examples=50, deadline=None)
@given(
    keys=st.sets(st.integers(0, 2**62) | st.integers(0, 300), min_size=1, max_size=200),
    wanted=st.lists(st.integers(-1, 2**62) | st.integers(-1, 900), max_size=50),
)
def test_keys_are_found_at_their_positions_and_other_keys_are_not(keys, wanted):
    keys = sorted(keys)
    queries = np.array([*wanted, *keys[::3]], dtype=np.int64)
    expected = [keys.index(key) if key in keys else len(keys) for key in queries.tolist()]
    assert native().KeyIndex(np.array(keys, dtype=np.int64)).find(queries).tolist() == expected
