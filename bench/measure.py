"""Run the sides of a measurement in turns, and say how each bound fared.

Promises: every round starts in an empty directory and with a collected heap; the sides take turns
within a round and the order is reversed in the next, so a slow minute of the machine falls on all
of them. Figures are medians over rounds.
Does not promise: quiet. The spread between rounds is reported next to each figure, and a verdict
that the spread could turn around says so.
Called by `bench.__main__`; the vocabulary of every measurement file.
"""

from __future__ import annotations

import gc
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Literal

Side = Literal["ours", "langgraph", "bare"]
Metric = Literal["wall", "cpu", "bytes", "count"]
Figures = dict[Metric, float]
Round = Callable[[Path, int], Figures]
"""One round of one side: an empty directory and a size in, figures out; a wrong result raises."""

Scale = Literal["full", "quick", "smoke"]


@dataclass(frozen=True)
class Bound:
    """What a figure of ours may be: a share of another side's, that plus so much, or a number."""

    metric: Metric
    limit: float
    kind: Literal["ratio", "added", "absolute"] = "ratio"
    against: Side | None = "langgraph"
    note: str = ""

    def reach(self, ours: float, other: float) -> float:
        """The number that is held against the limit."""
        match self.kind:
            case "ratio":
                return ours / other if other else float("inf")
            case "added":
                return ours - other
            case "absolute":
                return ours


@dataclass(frozen=True)
class Measurement:
    """A question about speed or size, with a program per side that answers it."""

    name: str
    title: str
    unit: str
    sides: Mapping[Side, Round]
    bounds: Sequence[Bound] = ()
    sizes: Mapping[Scale, int] = field(default_factory=lambda: {"full": 1, "quick": 1, "smoke": 1})
    rounds: Mapping[Scale, int] = field(default_factory=lambda: {"full": 9, "quick": 3, "smoke": 1})
    metrics: Sequence[Metric] = ("wall", "cpu")
    on_request: bool = False  # run only when asked for by name


@dataclass
class Outcome:
    """What was measured: per side the figures of each round, or why there are none."""

    measurement: Measurement
    size: int
    figures: dict[Side, list[Figures]] = field(default_factory=dict)
    troubles: dict[Side, str] = field(default_factory=dict)

    def typical(self, side: Side | None, metric: Metric) -> float | None:
        values = self._values(side, metric)
        return median(values) if values else None

    def spread(self, side: Side | None, metric: Metric) -> float | None:
        """How far the rounds lie apart, as a share of the median."""
        values = self._values(side, metric)
        middle = median(values) if values else 0
        return (max(values) - min(values)) / middle if middle else None

    def verdict(self, bound: Bound) -> Verdict | None:
        """Whether the bound holds for the medians; None when a side is missing."""
        other_side = bound.against or "ours"
        ours, other = self.typical("ours", bound.metric), self.typical(other_side, bound.metric)
        if ours is None or other is None:
            return None
        pairs = zip(
            self._values("ours", bound.metric), self._values(other_side, bound.metric), strict=False
        )
        reaches = [bound.reach(a, b) for a, b in pairs]
        return Verdict(
            reached=bound.reach(ours, other),
            met=bound.reach(ours, other) <= bound.limit,
            close=min(reaches) <= bound.limit < max(reaches),
        )

    def missed(self) -> list[Bound]:
        return [b for b in self.measurement.bounds if (v := self.verdict(b)) and not v.met]

    def _values(self, side: Side | None, metric: Metric) -> list[float]:
        if side is None:
            return []
        return [figures[metric] for figures in self.figures.get(side, []) if metric in figures]


@dataclass(frozen=True)
class Verdict:
    """`close`: some rounds fell on one side of the bound and some on the other."""

    reached: float
    met: bool
    close: bool


class Unavailable(Exception):
    """A side cannot run here; the others still do."""


def measure(measurement: Measurement, scale: Scale, *, parent: Path | None = None) -> Outcome:
    """Run every side in turns. A side that fails is left out from then on, with the reason."""
    size = measurement.sizes[scale]
    outcome = Outcome(measurement, size)
    sides = list(measurement.sides)
    if scale != "smoke":  # the first run of a side pays for its imports and caches
        for side in sides:
            _one_round(outcome, side, measurement.sizes["smoke"], parent, keep=False)
    for number in range(measurement.rounds[scale]):
        for side in sides if number % 2 == 0 else reversed(sides):
            if side not in outcome.troubles:
                _one_round(outcome, side, size, parent, keep=True)
    return outcome


def _one_round(outcome: Outcome, side: Side, size: int, parent: Path | None, *, keep: bool) -> None:
    try:
        with tempfile.TemporaryDirectory(prefix="bench-", dir=parent) as directory:
            figures = outcome.measurement.sides[side](Path(directory), size)
    except Unavailable as reason:
        outcome.troubles[side] = str(reason)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        outcome.troubles[side] = (
            f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
        )
    else:
        if keep:
            outcome.figures.setdefault(side, []).append(figures)


class Stopwatch:
    """Wall time and the CPU time of the whole process, between start and stop."""

    wall = cpu = 0.0

    def per(self, units: int) -> Figures:
        """Milliseconds for each of so many units of work."""
        return {"wall": self.wall / units * 1e3, "cpu": self.cpu / units * 1e3}


@contextmanager
def stopwatch() -> Iterator[Stopwatch]:
    """Time the block on a heap that holds only what the block makes.

    The collector stays on, as it is for users. What lives before the block (both libraries and all
    that they import) is frozen, so that neither side pays for walking the other's modules.
    """
    gc.collect()
    gc.freeze()
    watch = Stopwatch()
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield watch
    finally:
        watch.wall, watch.cpu = time.perf_counter() - wall, time.process_time() - cpu
        gc.unfreeze()


def expect(found: object, expected: object, what: str) -> None:
    """Refuse a figure of a run that did not do its work."""
    if found != expected:
        raise AssertionError(f"{what}: expected {expected!r}, found {found!r}")
