"""Everything that is measured, in the order of the table.

To add one: write a program that takes a directory and a size and returns figures, wrap it in a
`Measurement` with its bounds, and put it into a `MEASUREMENTS` list that is named here.
"""

from __future__ import annotations

from bench import fan_out, growth, history, imports, installs, round_trips, supersteps
from bench.measure import Measurement

ALL: list[Measurement] = [
    *supersteps.MEASUREMENTS,
    *round_trips.MEASUREMENTS,
    *fan_out.MEASUREMENTS,
    *history.MEASUREMENTS,
    *growth.MEASUREMENTS,
    *imports.MEASUREMENTS,
    *installs.MEASUREMENTS,
]


def chosen(names: list[str]) -> list[Measurement]:
    """Those named, by full name or by how it begins; without names all but those on request."""
    if not names:
        return [m for m in ALL if not m.on_request]
    picked: list[Measurement] = []
    for name in names:
        found = [m for m in ALL if m.name == name] or [m for m in ALL if m.name.startswith(name)]
        if not found:
            known = ", ".join(m.name for m in ALL)
            raise SystemExit(f"There is no measurement {name!r}. Known: {known}.")
        picked += [m for m in found if m not in picked]
    return picked
