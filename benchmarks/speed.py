"""Speed beside the other libraries: ours and theirs in turn, in one run.

EPIBOOST_DATA=folder python benchmarks/speed.py --growth --docs    everything, and renew docs/benchmarks.md
python benchmarks/speed.py --quick                                 fewer trees, no large tables, under two minutes
python benchmarks/speed.py --only 1,2,6                            some jobs
python benchmarks/speed.py --only none --growth                    how cost grows, and docs/growth.png
python benchmarks/speed.py --only 5 --earlier FILE --docs          one job anew, the others from an earlier --json FILE

Without EPIBOOST_DATA, protein and kin8nm are generated tables of the same shape. A bar that is not kept is reported,
and is no error: a machine may be busy.
"""

import json
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

import growth
from jobs import JOBS, LARGE_JOBS, Effort
from results import Result, machine, page, table

BUSY = 0.5
DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> None:
    """Run the jobs that the command line selects, print their table, write what is asked for."""
    asked = _arguments()
    effort = Effort(asked.repeats or (2 if asked.quick else 3), asked.quick)
    earlier = json.loads(asked.earlier.read_text(encoding="utf-8")) if asked.earlier else {"results": [], "growth": []}
    kept = [Result.from_json(record) for record in earlier["results"] if record["job"] not in asked.only]
    results = sorted([*_run(asked.only, effort), *kept], key=lambda result: result.job)
    series = [growth.Series.from_json(record) for record in earlier["growth"]]
    if asked.growth:
        series = growth.measure(effort.repeats, _note)
    print(table(results))
    if series:
        print(f"\n{growth.slopes_table(series)}\n\n{growth.added_table(series)}")
        growth.draw(series, DOCS / "growth.png")
    if asked.docs:
        text = page(results, effort.repeats, growth.section(series) if series else "")
        if kept:
            text += "\nThese figures come from more than one run on the same machine, some of them while it was busy.\n"
        (DOCS / "benchmarks.md").write_text(text, encoding="utf-8")
    if asked.json is not None:
        record = {
            "machine": machine(),
            "repeats": effort.repeats,
            "quick": effort.quick,
            "results": [result.to_json() for result in results],
            "growth": [{**asdict(each), "slopes": each.slopes} for each in series],
        }
        asked.json.write_text(json.dumps(record, indent=2, ensure_ascii=False), encoding="utf-8")


def _run(numbers: tuple[int, ...], effort: Effort) -> list[Result]:
    load = os.getloadavg()[0]
    if load > BUSY:
        _note(f"the machine is busy (load {load:.1f}): figures will mean little, those of OpenMP libraries least")
    if not os.environ.get("EPIBOOST_DATA"):
        _note("EPIBOOST_DATA is not set: generated tables stand in for protein and kin8nm")
    results: list[Result] = []
    for number in numbers:
        job = JOBS[number]
        _note(f"job {number}: {job.__name__.replace('_', ' ')} ...")
        start = perf_counter()
        lines = job(effort)
        found = ", ".join("no peer" if line.ratio is None else f"{line.ratio:.3f}" for line in lines)
        _note(f"job {number}: ratio {found} ({perf_counter() - start:.0f} s)")
        results.extend(lines)
    return results


def _arguments() -> Namespace:
    parser = ArgumentParser(description="Speed beside the other libraries.")
    parser.add_argument("--repeats", type=int, help="rounds of each job: 3, with --quick 2")
    parser.add_argument("--only", type=_numbers, help="jobs by number, as in 1,2,6, or none; all unless given")
    parser.add_argument("--quick", action="store_true", help="fewer trees and rounds, no jobs on large tables")
    parser.add_argument("--growth", action="store_true", help="measure how cost grows, and renew docs/growth.png")
    parser.add_argument("--docs", action="store_true", help="renew docs/benchmarks.md")
    parser.add_argument("--earlier", type=Path, metavar="FILE", help="take jobs that are not run from this --json file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures to a file")
    asked = parser.parse_args()
    if asked.repeats is not None and asked.repeats < 1:
        parser.error(f"--repeats must be at least 1; got {asked.repeats}")
    if asked.quick and (asked.growth or asked.docs):
        parser.error("--quick figures are too rough for --growth and --docs")
    if asked.docs and asked.only is not None and asked.earlier is None:
        parser.error("--docs holds all jobs; leave out --only, or give --earlier")
    if asked.only is None:
        asked.only = tuple(number for number in JOBS if not (asked.quick and number in LARGE_JOBS))
    return asked


def _numbers(text: str) -> tuple[int, ...]:
    if text == "none":
        return ()
    unknown = [part for part in text.split(",") if part.strip() not in map(str, JOBS)]
    if unknown:
        message = f"jobs are {', '.join(map(str, JOBS))}; got {', '.join(unknown)}"
        raise ArgumentTypeError(message)
    return tuple(int(part) for part in text.split(","))


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
