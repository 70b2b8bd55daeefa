"""A campaign whose cases end in every way a case can end."""

import os
import time

from fuzz.campaign import Campaign


def check(random, folder):
    """Pass, raise, end the process, hang or show the random numbers."""
    number = int(random.bit_generator.seed_seq.entropy[1])
    assert not list(folder.iterdir())
    (folder / "left behind").write_text("removed after the case")
    if number == 1:
        message = "case one"
        raise ValueError(message)
    if number == 2:
        os._exit(3)
    if number == 3:
        time.sleep(100)
    if number >= 5:
        message = f"drew {random.integers(2**60)}"
        raise ValueError(message)


CAMPAIGN = Campaign(check=check, short=1, usual=1, long=1, seconds=2.0)
