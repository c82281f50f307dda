"""Types that a program could keep in its state, one of each kind that a log can hold."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar

import msgspec

T = TypeVar("T")


class Colour(enum.Enum):
    RED = "r"
    GREEN = "g"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Right(enum.Flag):
    READ = 1
    WRITE = 2


@dataclass
class Point:
    x: int
    y: int = 0


@dataclass(frozen=True, slots=True)
class Frozen:
    name: str
    inner: Point


@dataclass
class Checked:
    """Its constructor counts, checks and completes; none of that may happen while reading."""

    amount: int
    doubled: int = field(init=False)

    def __post_init__(self) -> None:
        if self.amount < 0:
            raise ValueError("negative")
        self.doubled = self.amount * 2


@dataclass
class Late:
    """A field that has no value until somebody sets it."""

    name: str
    result: str = field(init=False)


@dataclass
class Remembering:
    n: int

    @cached_property
    def square(self) -> int:
        return self.n**2


@dataclass
class Box(Generic[T]):
    content: T


class Pair(NamedTuple):
    left: Any
    right: Any = "nobody"


class Shop(msgspec.Struct):
    name: str
    open: bool | msgspec.UnsetType = msgspec.UNSET


class Switch(msgspec.Struct):
    on: bool | msgspec.UnsetType = True


class Counted(msgspec.Struct):
    """Counts how often it was constructed; reading is not constructing."""

    times: int = 0

    def __post_init__(self) -> None:
        self.times += 1


class Money(msgspec.Struct, frozen=True):
    cents: int
    currency: str = "EUR"


class Address(TypedDict):
    street: str
    at: Point


@dataclass
class Node:
    """Something that can point at itself."""

    next: Any = None
