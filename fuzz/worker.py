"""A process that runs cases of one campaign: ``python -m fuzz.worker MODULE SEED``.

Says that it is ready, then reads one case number per line and answers with one line of JSON per case: the number and
the traceback, if any.
"""

import json
import os
import resource
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np

from fuzz.campaign import Campaign, load_campaign

# A case that needs more address space fails with MemoryError: no case needs a tenth of it.
MEMORY = 12 * 2**30


def run_case(campaign: Campaign, seed: int, number: int) -> str | None:
    """Run one case and return its traceback, or None if it found nothing."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            campaign.check(np.random.default_rng([seed, number]), Path(folder))
        except Exception:  # noqa: BLE001 - whatever escapes is a finding
            return traceback.format_exc()
    return None


def main() -> None:
    """Answer case numbers until the input ends."""
    module, seed = sys.argv[1], int(sys.argv[2])
    # The cases may print: their output goes to the error stream, and the answers have a stream of their own.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    campaign = load_campaign(module)
    # Sanitizers reserve terabytes of addresses, and macOS refuses the limit.
    if sys.platform == "linux" and "LD_PRELOAD" not in os.environ:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    answers.write(json.dumps("ready") + "\n")
    for line in sys.stdin:
        number = int(line)
        answers.write(json.dumps({"case": number, "fault": run_case(campaign, seed, number)}) + "\n")


if __name__ == "__main__":
    main()
