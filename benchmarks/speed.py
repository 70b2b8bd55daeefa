"""Compare speed with other libraries; runs of all libraries are interleaved.

EPIBOOST_DATA=folder python benchmarks/speed.py --growth --instructions all --docs    all, and renew docs/benchmarks.md
python benchmarks/speed.py --quick                                 fewer trees, no large tables, under two minutes
python benchmarks/speed.py --only 1,2,6                            some jobs
python benchmarks/speed.py --only none --growth                    how run time grows, and docs/growth.png
python benchmarks/speed.py --instructions avx2,portable            the jobs that depend on instructions, on these sets
python benchmarks/speed.py --only 5 --earlier FILE --docs          run one job, take the others from a --json FILE

Without EPIBOOST_DATA, protein and kin8nm are replaced by generated tables of the same shape. A requirement that is not
met is reported but is not an error, because the machine may be busy.
"""

import json
import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from dataclasses import asdict
from pathlib import Path
from time import perf_counter

import growth
import instructions
from jobs import BY_SET, JOBS, LARGE_JOBS
from jobs.effort import Effort
from results import Result, machine, page, tables_by_set

from epiboost._native import instruction_set

BUSY = 0.5
DOCS = Path(__file__).resolve().parent.parent / "docs"


def main() -> None:
    """Run the selected jobs, print their table, and write the requested files."""
    options = _arguments()
    effort = Effort(options.repeats or (2 if options.quick else 3), options.quick, options.instructions)
    earlier = (
        json.loads(options.earlier.read_text(encoding="utf-8")) if options.earlier else {"results": [], "growth": []}
    )
    earlier_results = [
        Result.from_json(record) for record in earlier["results"] if record["job"] not in (*options.only, growth.JOB)
    ]
    results = sorted([*_run(options.only, effort), *earlier_results], key=lambda result: result.job)
    series = [growth.Series.from_json(record) for record in earlier["growth"]]
    if options.growth:
        series = growth.measure(effort.repeats, _note)
    results += growth.requirements(series)
    for name, lines in tables_by_set(results).items():
        print(f"Instruction set: {name}\n\n{lines}\n")
    if series:
        print(f"{growth.slopes_table(series)}\n\n{growth.added_table(series)}")
        growth.draw(series, DOCS / "growth.png")
    if options.docs:
        text = page(results, effort.repeats, growth.section(series) if series else "")
        if earlier_results:
            text += "\nThese measurements come from several runs on the same machine, some of them while it was busy.\n"
        text += _gpu_section((DOCS / "benchmarks.md").read_text(encoding="utf-8"))
        (DOCS / "benchmarks.md").write_text(text, encoding="utf-8")
    if options.json is not None:
        record = {
            "machine": machine(),
            "repeats": effort.repeats,
            "quick": effort.quick,
            "results": [result.to_json() for result in results],
            "growth": [{**asdict(each), "slopes": each.slopes} for each in series],
        }
        options.json.write_text(json.dumps(record, indent=2, ensure_ascii=False), encoding="utf-8")


def _gpu_section(page: str) -> str:
    """Return the section of a page that was measured on another machine, which has a GPU."""
    _, heading, section = page.partition("\n## On a GPU\n")
    return heading + section


def _run(numbers: tuple[int, ...], effort: Effort) -> list[Result]:
    load = os.getloadavg()[0]
    if load > BUSY:
        _note(f"the machine is busy (load {load:.1f}): times are unreliable, most of all those of OpenMP libraries")
    if not os.environ.get("EPIBOOST_DATA"):
        _note("EPIBOOST_DATA is not set: generated tables replace protein and kin8nm")
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
    parser = ArgumentParser(description="Compare speed with other libraries.")
    parser.add_argument("--repeats", type=int, help="number of rounds per job; default: 3, with --quick 2")
    parser.add_argument("--only", type=_numbers, help="numbers of jobs, such as 1,2,6, or none; default: all")
    parser.add_argument("--quick", action="store_true", help="fewer trees and rounds, no jobs on large tables")
    parser.add_argument("--growth", action="store_true", help="measure how run time grows, and renew docs/growth.png")
    parser.add_argument(
        "--instructions",
        type=instructions.parse,
        metavar="SETS",
        help="instruction sets to force, such as avx2,portable, or all; with --docs beside the one in use",
    )
    parser.add_argument("--docs", action="store_true", help="renew docs/benchmarks.md")
    parser.add_argument(
        "--earlier", type=Path, metavar="FILE", help="take the jobs that are not run from this --json file"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all measurements to a file")
    options = parser.parse_args()
    if options.repeats is not None and options.repeats < 1:
        parser.error(f"--repeats must be at least 1; got {options.repeats}")
    if options.quick and (options.growth or options.docs):
        parser.error("--quick is too imprecise for --growth and --docs")
    if options.docs and options.only is not None and options.earlier is None:
        parser.error("--docs needs all jobs; leave out --only, or give --earlier")
    usual = options.instructions is None or options.docs
    jobs = tuple(number for number in JOBS if usual or number in BY_SET)
    if options.only is None:
        options.only = tuple(number for number in jobs if not (options.quick and number in LARGE_JOBS))
    if not set(options.only) <= set(jobs):
        parser.error(f"the jobs of --instructions are {', '.join(map(str, BY_SET))}; others need --docs as well")
    used = (instruction_set(),) if usual else ()
    options.instructions = tuple(dict.fromkeys((*used, *(options.instructions or ()))))
    return options


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
