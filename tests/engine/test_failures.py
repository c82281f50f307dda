"""A failure that is read from the log says what the failure said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from caesura.core.events import Failed
from caesura.core.parts import ErrorInfo
from caesura.engine.codec import Codec
from caesura.engine.failures import MOST_TRACEBACK, describe, rebuild
from caesura.engine.registry import Registry
from caesura.errors import RecordedError

CODEC = Codec(Registry())


class CardDeclined(Exception):
    pass


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def recorded(error: BaseException) -> ErrorInfo:
    """What a log gives back of it."""
    _, (event,) = CODEC.decode(CODEC.encode(1, [Failed(0, 0, describe(error))]))
    return event.error


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


@pytest.mark.parametrize(
    "error",
    [
        ValueError("bad amount"), ValueError(), ValueError("a", 2, None), KeyError("k"),
        ZeroDivisionError("division by zero"), TimeoutError("slow"), IndexError(3),
        OSError(28, "No space left"), FileNotFoundError(2, "No such file", "a.txt"),
        OSError(18, "Cross-device link", "a", None, "b"), StopIteration(1), Exception("plain"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"), PermissionError(13, "x"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_builtin_exception_comes_back_as_its_type_with_its_message(error):
    back = rebuild(recorded(error))
    assert (type(back), str(back), back.args) == (type(error), str(error), error.args)


def test_an_error_about_a_path_comes_back_with_its_file():
    back: Any = rebuild(recorded(FileNotFoundError(2, "No such file", Path("a.txt"))))
    assert (back.filename, back.errno) == ("a.txt", 2)


def test_an_exception_that_came_from_a_log_says_so():
    assert rebuild(recorded(ValueError("x"))).__notes__ == ["(read back from the log)"]


def test_any_other_exception_comes_back_with_its_name_message_and_traceback():
    back = rebuild(recorded(raised(CardDeclined("card 7 declined"))))
    assert isinstance(back, RecordedError)
    assert back.type_name == f"{__name__}.CardDeclined"
    assert back.message == "card 7 declined"
    assert "in raised" in back.traceback


@pytest.mark.parametrize(
    "error", [ValueError(object()), ExceptionGroup("two", [ValueError(1)]), KeyError((1, 2))]
)
def test_a_builtin_exception_with_arguments_that_are_not_plain_keeps_what_it_said(error):
    back = rebuild(recorded(error))
    assert isinstance(back, RecordedError)
    assert (back.type_name, back.message) == (type(error).__name__, str(error))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), GeneratorExit()])
def test_what_would_end_the_program_is_not_raised_again_as_such(error):
    assert isinstance(rebuild(recorded(error)), RecordedError)


def test_the_cause_is_part_of_the_traceback():
    try:
        try:
            raise KeyError("root")
        except KeyError as cause:
            raise CardDeclined("outer") from cause
    except CardDeclined as error:
        info = describe(error)
    assert "KeyError: 'root'" in info.traceback
    assert "direct cause" in info.traceback


def test_a_long_traceback_keeps_its_end():
    info = describe(raised(ValueError("x" * 2 * MOST_TRACEBACK + " the end")))
    assert len(info.traceback) == MOST_TRACEBACK
    assert info.traceback.rstrip().endswith("the end")


def test_an_exception_whose_message_cannot_be_made_is_described_all_the_same():
    info = recorded(raised(Mute()))
    assert info.type_name.endswith("Mute")
    assert "RuntimeError" in info.message


def test_a_message_that_is_no_unicode_can_be_written():
    assert "\\ud800" in rebuild(recorded(CardDeclined("half \ud800"))).message


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("eval", ["1"]), ("print", []), ("exit", []), ("os.system", ["x"]), ("object", []),
        ("SystemExit", [1]), ("UnicodeDecodeError", ["too few"]), ("ValueError", 5), ("", []),
    ],
)  # fmt: skip
def test_nothing_but_a_builtin_exception_is_ever_made(name, args):
    back = rebuild(ErrorInfo(name, "said", "", args))
    assert isinstance(back, RecordedError)
    assert (back.type_name, back.message) == (name, "said")


@given(st.sampled_from([ValueError, KeyError, OSError]), st.lists(st.text() | st.integers()))
def test_whatever_its_plain_arguments_are_it_says_the_same(cls, args):
    error = cls(*args)
    assert str(rebuild(recorded(error))) == str(error)
