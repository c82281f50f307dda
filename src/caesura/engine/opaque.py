"""What a reader sees in place of a value whose type it does not know.

Promises: it is written again byte for byte as it was read, so passing through a reader without the
graph (a store's copy, the command line, the inbox) loses nothing.
Made by `reading`; written by `plain`; shown by whoever reads logs without their graph.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Opaque:
    """A recorded value of type `name`: its parts are in `data`, its own form was not rebuilt."""

    name: str
    data: Any
    code: int = field(default=0, repr=False)
    raw: bytes = field(default=b"", repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Opaque):
            return NotImplemented
        return (self.code, self.raw) == (other.code, other.raw)

    def __hash__(self) -> int:
        return hash((self.code, self.raw))
