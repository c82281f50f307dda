"""`python -m bench [names] [--quick] [--json FILE] [--profile] [--dir DIRECTORY]`.

Ends with 0 when everything that was asked for ran, whether or not the bounds were met: speed is
reported, not enforced.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from bench import report
from bench.measure import Outcome, Scale, measure
from bench.measurements import ALL, chosen
from bench.profiling import profile


def main(arguments: list[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    if asked.list:
        print("\n".join(f"{m.name:24} {m.title}" for m in ALL))
        return 0
    scale: Scale = "smoke" if asked.smoke else "quick" if asked.quick else "full"
    print(report.heading(asked.dir), end="\n\n", flush=True)
    started = time.monotonic()
    outcomes: list[Outcome] = []
    for measurement in chosen(asked.names):
        _progress(f"measuring {measurement.title} …")
        outcomes.append(measure(measurement, scale, parent=asked.dir))
    _progress("")
    print(report.table([line for outcome in outcomes for line in report.lines_of(outcome)]))
    print(f"\n{report.LEGEND}\nTook {time.monotonic() - started:.0f} s ({scale}).")
    for trouble in report.troubles(outcomes):
        print(f"! {trouble}")
    if asked.json:
        document = report.as_json(outcomes, scale=scale, directory=asked.dir)
        asked.json.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    if asked.profile:
        for outcome in outcomes:
            if outcome.missed() or asked.names:
                print(f"\n=== {outcome.measurement.title}: where our time goes")
                print(profile(outcome.measurement, scale, asked.dir))
    return 1 if any(outcome.troubles.get("ours") for outcome in outcomes) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m bench", description="Measure beside LangGraph.")
    parser.add_argument("names", nargs="*", help="measurements, by name or its beginning")
    parser.add_argument("--list", action="store_true", help="name the measurements and stop")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller sizes")
    parser.add_argument("--smoke", action="store_true", help="tiny: only whether everything runs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="every round's figures")
    parser.add_argument(
        "--profile", action="store_true", help="profile what missed its bound, or what is named"
    )
    parser.add_argument(
        "--dir",
        type=Path,
        default=Path(tempfile.gettempdir()),
        help="where the stores' files go (default: %(default)s)",
    )
    return parser


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[2K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
