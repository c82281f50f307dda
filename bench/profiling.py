"""Say where our time goes in a measurement, function by function.

Promises: the same program as the measurement runs, once, under cProfile, in all of its threads.
Does not promise: true times; a profiler slows calls down more than loops.
Called by `bench.__main__` for what missed its bound, when asked with --profile.
"""

from __future__ import annotations

import cProfile
import io
import pstats
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.measure import Measurement, Scale

LINES = 22


def profile(measurement: Measurement, scale: Scale, parent: Path | None) -> str:
    """The functions of our side that took most time, the threads' own added up."""
    program = measurement.sides["ours"]
    profiles: list[cProfile.Profile] = []

    def profiled(run: Callable[[], Any]) -> Any:
        profiler = cProfile.Profile()
        profiles.append(profiler)
        profiler.enable()
        try:
            return run()
        finally:
            profiler.disable()

    unprofiled = threading.Thread.run

    def run_thread(self: threading.Thread) -> None:
        profiled(lambda: unprofiled(self))

    threading.Thread.run = run_thread  # type: ignore[method-assign]
    try:
        with tempfile.TemporaryDirectory(prefix="bench-", dir=parent) as directory:
            program(Path(directory), measurement.sizes["smoke"])  # imports are not what we look for
        profiles.clear()
        with tempfile.TemporaryDirectory(prefix="bench-", dir=parent) as directory:
            profiled(lambda: program(Path(directory), measurement.sizes[scale]))
    finally:
        threading.Thread.run = unprofiled  # type: ignore[method-assign]

    text = io.StringIO()
    stats = pstats.Stats(*profiles, stream=text)
    stats.sort_stats("tottime").print_stats(LINES)
    lines = text.getvalue().splitlines()
    return "\n".join(line for line in lines if line.strip())
