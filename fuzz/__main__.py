"""Run the campaigns: ``python -m fuzz [CAMPAIGN ...]``; see ``python -m fuzz --help``."""

import argparse
import sys
from time import monotonic

from fuzz.campaign import CAMPAIGNS, load_campaign
from fuzz.record import read_record
from fuzz.runner import ROOT, run_cases

SECONDS_BETWEEN_LINES = 10.0


def _number(text: str) -> int:
    number = int(text)
    if number < 0:
        message = f"{number} is negative"
        raise argparse.ArgumentTypeError(message)
    return number


def _positive(text: str) -> int:
    number = _number(text)
    if number == 0:
        message = "it must be at least 1"
        raise argparse.ArgumentTypeError(message)
    return number


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m fuzz",
        description="Search for faults with random cases. A run goes on where the last one with the same seed stopped, "
        "and runs failing cases first.",
    )
    names = [module.removeprefix("fuzz.") for module in CAMPAIGNS]
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help=f"default: all of {', '.join(names)}")
    parser.add_argument("--form", choices=("short", "usual", "long"), default="usual", help="how many cases")
    parser.add_argument("--cases", type=_positive, help="number of cases, in place of a form's")
    parser.add_argument("--minutes", type=float, help="stop each campaign after this time")
    parser.add_argument("--seed", type=_number, default=1)
    parser.add_argument("--case", type=_number, help="run this case alone")
    parser.add_argument("--jobs", type=_positive, default=2, help="number of processes")
    options = parser.parse_args()
    unknown = sorted(set(options.campaigns) - set(names))
    if unknown:
        parser.error(f"unknown campaigns {unknown}; there are {names}")
    options.campaigns = options.campaigns or names
    return options


def run_campaign(name: str, options: argparse.Namespace) -> int:
    """Run one campaign, print its progress and return the number of failing cases."""
    module = f"fuzz.{name}"
    path = ROOT / "build" / "fuzz" / f"{name}-{options.seed}.json"
    record = read_record(path)
    if options.case is not None:
        return _run_again(module, options.seed, options.case)
    cases = record.cases(options.cases or load_campaign(module).cases(options.form))
    print(f"{name}: seed {options.seed}, {len(cases)} cases from {cases[0]}", flush=True)
    start = printed = monotonic()
    done = failed = 0
    for outcome in run_cases(module, options.seed, cases, options.jobs):
        done += 1
        record = record.with_outcome(outcome)
        if outcome.fault is not None:
            failed += 1
            print(f"{name}: case {outcome.case} {outcome.fault}", flush=True)
        now = monotonic()
        if outcome.fault is not None or now > printed + SECONDS_BETWEEN_LINES:
            printed = now
            record.write(path)
            print(f"{name}: {done} of {len(cases)} cases, {failed} failed, {now - start:.0f} s", flush=True)
        if options.minutes is not None and now > start + 60 * options.minutes:
            break
    record.write(path)
    print(f"{name}: {done} cases, {failed} failed, {monotonic() - start:.0f} s", flush=True)
    return failed


def _run_again(module: str, seed: int, case: int) -> int:
    """Run one case and print how it ends; the record stays as it is."""
    (outcome,) = run_cases(module, seed, [case])
    print(f"{module}: case {case}: {outcome.fault or 'nothing found'}")
    return int(outcome.fault is not None)


def main() -> int:
    """Run the campaigns and return the exit status."""
    options = parse()
    failed = {name: run_campaign(name, options) for name in options.campaigns}
    for name, number in failed.items():
        if number:
            print(f"run a case again: python -m fuzz {name} --seed {options.seed} --case NUMBER")
    return int(any(failed.values()))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted; the next run goes on from here")
