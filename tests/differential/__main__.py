"""Look at one case by eye: `python -m differential CASE` from `tests/`, `-l langgraph` for one side.

Without a case, runs the whole corpus in memory and lists the cases that differ.
"""

from __future__ import annotations

import argparse
import difflib
from pprint import pformat

from . import corpus  # noqa: F401
from .driver import Flavour, Record, play
from .registry import CASES


def main() -> None:
    parser = argparse.ArgumentParser(prog="differential")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("-l", "--library", choices=["langgraph", "caesura"])
    parser.add_argument("-s", "--store", choices=["memory", "sqlite"], default="memory")
    parser.add_argument("-a", "--style", choices=["sync", "async"])
    options = parser.parse_args()
    for name, case in CASES.items():
        if options.cases and not any(wanted in name for wanted in options.cases):
            continue
        flavour = Flavour(options.store, options.style or case.styles[0])
        if options.library:
            print(f"== {name}\n{shown(play(case, options.library, flavour))}")
            continue
        theirs, ours = play(case, "langgraph", flavour), play(case, "caesura", flavour)
        if theirs != ours:
            print(f"== {name}")
            if options.cases:
                print(difference(theirs, ours))


def shown(record: Record) -> str:
    return "\n".join(f"{what}:\n{pformat(value, width=110)}" for what, value in record)


def difference(theirs: Record, ours: Record) -> str:
    return "\n".join(
        difflib.unified_diff(
            shown(theirs).splitlines(),
            shown(ours).splitlines(),
            "langgraph",
            "caesura",
            lineterm="",
            n=4,
        )
    )


if __name__ == "__main__":
    main()
