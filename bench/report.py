"""Put outcomes into a table for people and into JSON for programs.

Promises: one line per bound (a measurement without one still gets its line), ratios in the form in
which the bounds are written, a verdict, the physical limit and the noise. Nothing is hidden: a side
that could not run says why below the table.
Called by `bench.__main__`.
"""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench.measure import Bound, Metric, Outcome, Side

HEADINGS = ("measurement", "", "ours", "LangGraph", "ratio", "bound", "", "limit", "noise")
SOFT_FILE_SYSTEMS = {"tmpfs", "ramfs", "overlay"}


def heading(directory: Path) -> str:
    """Where this was measured, and whether an fsync means anything there."""
    system = file_system(directory)
    facts = [
        f"Python {platform.python_version()}",
        f"SQLite {sqlite3.sqlite_version}",
        f"{os.cpu_count()} CPUs",
        f"{platform.system()} {platform.machine()}",
        f"caesura {_version('caesura')}",
        f"langgraph {_version('langgraph')}",
    ]
    lines = [", ".join(facts), f"files in {directory} ({system})"]
    if system in SOFT_FILE_SYSTEMS:
        lines.append(f"Careful: an fsync on {system} may cost nothing. Choose a disk with --dir.")
    return "\n".join(lines)


def lines_of(outcome: Outcome) -> list[tuple[str, ...]]:
    bounds: Sequence[Bound | None] = outcome.measurement.bounds or (None,)
    return [_line(outcome, bound, first=number == 0) for number, bound in enumerate(bounds)]


def _line(outcome: Outcome, bound: Bound | None, *, first: bool) -> tuple[str, ...]:
    metric = bound.metric if bound else outcome.measurement.metrics[0]
    theirs: Side = "langgraph"
    verdict = outcome.verdict(bound) if bound else None
    if verdict and bound:
        ratio = _as_written(verdict.reached, bound)
        judged = ("met" if verdict.met else "MISSED") + (" ~" if verdict.close else "")
    else:
        ratio, judged = _plain_ratio(outcome, metric), "not measured" if bound else ""
    if outcome.troubles.get("ours"):
        judged = "FAILED"
    return (
        outcome.measurement.title if first else "",
        metric if metric in ("wall", "cpu") else "",
        _number(outcome.typical("ours", metric), metric),
        _number(outcome.typical(theirs, metric), metric),
        ratio,
        _bound(bound) if bound else "",
        judged,
        _number(outcome.typical("bare", metric), metric),
        _noise(outcome, metric),
    )


def _as_written(reached: float, bound: Bound) -> str:
    match bound.kind:
        case "ratio":
            return _ratio(reached)
        case "added":
            return f"{reached:+.3f} ms"
        case "absolute":
            return _number(reached, bound.metric)


def _bound(bound: Bound) -> str:
    match bound.kind:
        case "ratio" if bound.limit >= 1:
            text = f"≤ {bound.limit:g} x"
        case "ratio":
            whole = Fraction(bound.limit).limit_denominator(100)
            text = f"≤ {whole}" if whole.numerator == 1 else f"≤ {bound.limit:g}"
        case "added":
            text = f"≤ {bound.limit:+g} ms"
        case "absolute":
            text = f"≤ {_number(bound.limit, bound.metric)}"
    return f"{text} {bound.note}".strip()


def _ratio(value: float) -> str:
    return f"1/{1 / value:.1f}" if 0 < value < 0.34 else f"{value:.2f}"


def _plain_ratio(outcome: Outcome, metric: Metric) -> str:
    ours, theirs = outcome.typical("ours", metric), outcome.typical("langgraph", metric)
    return _ratio(ours / theirs) if ours and theirs else ""


def _number(value: float | None, metric: Metric) -> str:
    if value is None:
        return "-"
    if metric in ("bytes", "count"):
        return f"{value:,.0f}"
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _noise(outcome: Outcome, metric: Metric) -> str:
    """The spread of ours, LangGraph's and the limit's rounds."""
    sides: tuple[Side, ...] = ("ours", "langgraph", "bare")
    spreads = [outcome.spread(side, metric) for side in sides if side in outcome.figures]
    return " / ".join(f"{s:.0%}" for s in spreads if s is not None)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    every = [HEADINGS, *rows]
    widths = [max(len(row[i]) for row in every) for i in range(len(HEADINGS))]
    left = {0, 1, 5, 6, 8}
    out = []
    for row in every:
        cells = [
            cell.ljust(width) if i in left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        out.append("  ".join(cells).rstrip())
    return "\n".join([out[0], "-" * max(map(len, out)), *out[1:]])


LEGEND = """\
Times are medians over interleaved rounds, in milliseconds; cpu is that of the whole process.
limit: the bare SQLite transactions (WAL, synchronous=FULL, about 200 bytes) that nobody can save,
for imports the interpreter or the dependencies alone. noise: (slowest - fastest) / median of ours /
LangGraph's / the limit. ~ : some rounds fell on the other side of the bound."""


def troubles(outcomes: Sequence[Outcome]) -> list[str]:
    return [
        f"{outcome.measurement.name}, {side}: {why}"
        for outcome in outcomes
        for side, why in outcome.troubles.items()
    ]


def as_json(outcomes: Sequence[Outcome], *, scale: str, directory: Path) -> dict[str, Any]:
    return {
        "machine": heading(directory),
        "python": sys.version,
        "scale": scale,
        "measurements": [
            {
                "name": outcome.measurement.name,
                "title": outcome.measurement.title,
                "unit": outcome.measurement.unit,
                "size": outcome.size,
                "figures": outcome.figures,
                "troubles": outcome.troubles,
                "bounds": [
                    {**asdict(bound), "verdict": asdict(verdict) if verdict else None}
                    for bound in outcome.measurement.bounds
                    for verdict in [outcome.verdict(bound)]
                ],
            }
            for outcome in outcomes
        ],
    }


def file_system(directory: Path) -> str:
    """The kind of file system below a directory, as far as this machine tells."""
    try:
        mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    except OSError:
        return "unknown file system"
    here = directory.resolve()
    above = [(place, kind) for place, kind in mounts if here.is_relative_to(place)]
    return max(above, key=lambda mount: len(mount[0]))[1] if above else "unknown file system"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"
