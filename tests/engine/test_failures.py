"""A failure that is read from the log says what the failure said."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest
from hypothesis import given, strategies as st

from caesura.core.events import Failed
from caesura.core.parts import ErrorInfo
from caesura.engine.codec import Codec
from caesura.engine.failures import MOST_ATTRIBUTES, MOST_TRACEBACK, describe, rebuild
from caesura.engine.registry import Registry
from caesura.errors import RecordedError

CODEC = Codec(Registry())


class CardDeclined(Exception):
    pass


class Refused(Exception):
    """Made of something else than what it says."""

    def __init__(self, code: int, *, detail: Any = None) -> None:
        super().__init__(f"code {code}")
        self.code, self.detail = code, detail


class RefusedWithDefault(Refused):
    detail = None


@dataclass
class Declined(Exception):
    card: str
    tries: list[int]


class Unplugged(OSError):
    pass


class Guarded(Exception):
    made = 0

    def __new__(cls, *args: Any) -> Self:
        cls.made += 1
        return super().__new__(cls, *args)


class Veiled(Exception):
    """An exception that answers no question about itself."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(f"what {name}?")


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


# ------------------------------------------------------------------------- types that are known
def known(*classes: type[Exception]) -> dict[str, type[Exception]]:
    return {f"{cls.__module__}.{cls.__qualname__}": cls for cls in classes}


KNOWN = known(CardDeclined, Refused, RefusedWithDefault, Declined, Unplugged, Guarded, Veiled, Mute)


@pytest.mark.parametrize(
    "error",
    [
        CardDeclined(), CardDeclined("a", 2, None), CardDeclined("half \ud800"),
        CardDeclined(1 << 80), Refused(7), Refused(7, detail={"a": [1, (2.5, b"b")]}),
        Declined("visa", [1, 2]), Unplugged(5, "gone"), Unplugged(2, "gone", "a.txt"),
    ],
    ids=repr,
)  # fmt: skip
def test_an_exception_of_a_known_type_comes_back_as_it_was(error):
    back = rebuild(recorded(error), KNOWN)
    attributes = {k: v for k, v in vars(back).items() if k != "__notes__"}
    assert (type(back), str(back), back.args) == (type(error), str(error), error.args)
    assert attributes == vars(error)
    assert back.__notes__ == ["(read back from the log)"]


def test_an_exception_of_a_known_type_has_what_its_builtin_base_makes_of_its_arguments():
    back: Any = rebuild(recorded(Unplugged(2, "gone", Path("a.txt"))), KNOWN)
    assert (back.errno, back.strerror, back.filename) == (2, "gone", "a.txt")


def test_an_attribute_that_is_not_plain_is_missing_and_named():
    back: Any = rebuild(recorded(Refused(7, detail=object())), KNOWN)
    assert (type(back), back.code, back.__notes__) == (
        Refused, 7, ["(read back from the log, without detail)"],
    )  # fmt: skip
    assert not hasattr(back, "detail")


def test_an_exception_whose_class_would_answer_for_a_missing_attribute_is_not_made():
    back = rebuild(recorded(RefusedWithDefault(7, detail=object())), KNOWN)
    assert isinstance(back, RecordedError)


def test_attributes_that_are_large_are_not_kept():
    info = recorded(Refused(7, detail="x" * MOST_ATTRIBUTES))
    assert (info.attributes, info.unkept) == ({"code": 7}, ["detail"])


def test_what_was_noted_on_an_exception_is_kept():
    error = CardDeclined("no")
    error.add_note("ask for cash")
    back = rebuild(recorded(error), KNOWN)
    assert back.__notes__ == ["ask for cash", "(read back from the log)"]


def test_two_readers_of_a_failure_share_nothing():
    info = recorded(Declined("visa", [1]))
    first: Any = rebuild(info, KNOWN)
    first.tries.append(2)
    second: Any = rebuild(info, KNOWN)
    assert second.tries == [1]


def test_no_code_of_a_known_type_runs_while_it_is_made():
    error, info = Guarded("no"), recorded(Veiled("no"))
    made = Guarded.made
    assert isinstance(rebuild(recorded(error), KNOWN), RecordedError)
    assert Guarded.made == made
    assert type(rebuild(info, KNOWN)) is Veiled


@pytest.mark.parametrize("args", [None, 5, ["x"] * 3])
def test_a_known_type_that_cannot_be_made_of_what_was_kept_is_not_made(args):
    class Odd(UnicodeDecodeError):
        pass

    back = rebuild(ErrorInfo("odd", "said", "", args), {"odd": Odd})
    assert isinstance(back, RecordedError)


@given(st.sampled_from([ValueError, KeyError, OSError]), st.lists(st.text() | st.integers()))
def test_whatever_its_plain_arguments_are_it_says_the_same(cls, args):
    error = cls(*args)
    assert str(rebuild(recorded(error))) == str(error)
