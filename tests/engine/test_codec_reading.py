"""Reading a log calls and imports nothing that the log names, and says what is wrong with it."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st
from msgspec.msgpack import Ext, encode as pack

from caesura.core.events import FORMAT, Done, Opened, Started
from caesura.core.parts import Sent
from caesura.core.view import RunView, ThreadView
from caesura.engine.codec import Codec
from caesura.engine.opaque import Opaque
from caesura.engine.registry import Registry
from caesura.engine.standard import NAMED
from caesura.errors import CorruptRecord, StoreTrouble, UnknownEvent, UnknownFormat
from tests.engine.things import Colour, Point

KNOWING = Codec(Registry(types=[Point, Colour]))
STRANGER = Codec(Registry())
LOOKING = Codec(Registry(), strict=False)


def named(name: Any, content: Any) -> bytes:
    """What a log could hold, written by whomever."""
    return pack(Ext(NAMED, pack([name, content])))


# ------------------------------------------------------------------------------- unknown types
def test_an_unknown_type_is_opaque_and_shows_its_name_and_parts():
    seen = STRANGER.decode_value(KNOWING.encode_value({"at": Point(1, 2)}))["at"]
    assert isinstance(seen, Opaque)
    assert (seen.name, seen.data) == ("tests.engine.things:Point", {"x": 1, "y": 2})


def test_an_opaque_value_becomes_itself_again_where_its_type_is_known():
    seen = STRANGER.decode_value(KNOWING.encode_value([Point(1)]))
    assert KNOWING.decode_value(STRANGER.encode_value(seen)) == [Point(1)]
    assert KNOWING.revive(seen) == [Point(1)]


def test_equal_opaque_values_are_equal_and_can_be_members_of_a_set():
    one, other = (STRANGER.decode_value(KNOWING.encode_value(Point(n))) for n in (1, 2))
    assert one == STRANGER.decode_value(KNOWING.encode_value(Point(1)))
    assert one != other
    assert STRANGER.decode_value(KNOWING.encode_value({Colour.RED, Colour.GREEN})) == {
        STRANGER.decode_value(KNOWING.encode_value(colour)) for colour in Colour
    }


@pytest.mark.parametrize(
    "name", ["os:system", "builtins:eval", "subprocess:Popen", "__main__:x", "", ":", "caesura:x"]
)
def test_the_name_of_a_function_is_only_shown(name):
    seen = STRANGER.decode_value(named(name, ["echo hello"]))
    assert isinstance(seen, Opaque)
    assert (seen.name, seen.data) == (name, ["echo hello"])


def test_no_module_is_imported_for_a_name():
    program = (
        "import sys\n"
        "from msgspec.msgpack import Ext, encode\n"
        "from caesura.engine.codec import Codec\n"
        "from caesura.engine.registry import Registry\n"
        "codec = Codec(Registry())\n"
        "before = set(sys.modules)\n"
        "for name in ('this:x', 'langchain_core:HumanMessage', 'pydantic:BaseModel', 'app:A'):\n"
        "    print(codec.decode_value(encode(Ext(0, encode([name, {}])))).name)\n"
        "print(sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "this:x", "langchain_core:HumanMessage", "pydantic:BaseModel", "app:A", "[]",
    ], done.stderr  # fmt: skip


def test_an_extension_of_a_newer_version_is_opaque_and_written_again_as_it_was():
    body = pack([Ext(99, b"whatever")])
    assert STRANGER.decode_value(body) == [Opaque("extension 99", b"whatever", 99, b"whatever")]
    assert STRANGER.encode_value(STRANGER.decode_value(body)) == body


# ----------------------------------------------------------------------- types that have changed
Was = msgspec.defstruct("Order", [("amount", int)], module="app")
Is = msgspec.defstruct("Order", [("amount", int), ("currency", str)], module="app")


def test_a_gained_field_without_a_default_is_an_error_to_whoever_runs_the_graph():
    body = Codec(Registry(types=[Was])).encode_value(Was(5))
    with pytest.raises(CorruptRecord, match=r"app:Order cannot be read back.*currency"):
        Codec(Registry(types=[Is])).decode_value(body)


def test_a_gained_field_without_a_default_is_opaque_to_whoever_only_looks():
    body = Codec(Registry(types=[Was])).encode_value(Was(5))
    seen = Codec(Registry(types=[Is]), strict=False).decode_value(body)
    assert (seen.name, seen.data) == ("app:Order", {"amount": 5})
    assert Codec(Registry(), strict=False).encode_value(seen) == body


def test_what_is_opaque_because_its_reader_failed_shows_all_that_was_recorded():
    pydantic = pytest.importorskip("pydantic")
    was = pydantic.create_model("Order", __module__="app", a=(int, 1), b=(int, 2))
    now = pydantic.create_model("Order", __module__="app", a=(int, 1), needed=(int, ...))
    body = Codec(Registry(types=[was])).encode_value(was(b=5))
    seen = Codec(Registry(types=[now]), strict=False).decode_value(body)
    assert seen.data == STRANGER.decode_value(body).data


def test_a_member_that_an_enum_lost_is_an_error_that_names_it():
    body = named("tests.engine.things:Colour", "BLUE")
    with pytest.raises(CorruptRecord, match="BLUE"):
        KNOWING.decode_value(body)
    assert Codec(KNOWING.registry, strict=False).decode_value(body).data == "BLUE"


# --------------------------------------------------------------------------------- other versions
def test_a_newer_format_is_refused_and_nothing_is_blamed():
    with pytest.raises(UnknownFormat, match="Upgrade caesura"):
        STRANGER.decode(pack([FORMAT + 1, 0, [["new"]]]))
    with pytest.raises(UnknownFormat, match="Upgrade caesura"):
        STRANGER.decode_view(pack([FORMAT + 1, ["new"]]))


def test_an_unknown_event_is_named():
    with pytest.raises(UnknownEvent, match="event of kind 999"):
        STRANGER.decode(pack([FORMAT, 0, [[999, 1]]]))


@pytest.mark.parametrize("format", [0, -1, -(2**40)])
def test_a_format_that_never_was_is_damage(format):
    with pytest.raises(CorruptRecord):
        STRANGER.decode(pack([format, 0, []]))
    with pytest.raises(CorruptRecord):
        STRANGER.decode_view(pack([format, []]))


# ------------------------------------------------------------------------------------------ damage
EVENTS = [
    Opened("birth", "graph", {"notes": "add"}),
    Started(0, [{"at": Point(1), "notes": {Colour.RED, (1, 2)}}], ["a", Sent("b", 2**70)]),
    Done(0, 0, [{"at": 1.5}], None),
]
RECORD = KNOWING.encode(1, EVENTS)
SNAPSHOT = KNOWING.encode_view(
    ThreadView("b", "g", runs={0: RunView(0, "g", values={"at": Point(1), "d": {1: "x"}})})
)
VALUE = KNOWING.encode_value({"at": Point(1), "d": {(1, 2): {Colour.RED}}})


@pytest.mark.parametrize(
    "body",
    [
        b"", b"\xc1", b"hello", pack(None), pack([]), pack([FORMAT]), pack([FORMAT, 0, {}]),
        pack([FORMAT, 0, [{}]]), pack([FORMAT, 0, [[]]]), pack([FORMAT, 0, [[[], 1]]]),
        pack([FORMAT, 0, [["x", 1]]]), pack([FORMAT, "x", []]), pack(["x", 0, []]),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_record_is_called_damaged(body):
    with pytest.raises(CorruptRecord, match="Nothing was changed"):
        STRANGER.decode(body)


@pytest.mark.parametrize(
    "body",
    [
        named(5, 1), named(None, 1), named([], 1), named({}, 1), pack(Ext(NAMED, pack([1]))),
        pack(Ext(NAMED, b"")), pack(Ext(4, pack([[1]]))), pack(Ext(14, pack(b"short"))),
        pack({"a": 1})[:-1],
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_value_is_called_damaged(body):
    with pytest.raises(CorruptRecord):
        KNOWING.decode_value(body)


def changed(body: bytes) -> st.SearchStrategy[bytes]:
    """The body with some bytes of it replaced, or a piece of it cut out."""
    places = st.integers(0, len(body) - 1)
    replaced = st.dictionaries(places, st.integers(0, 255), min_size=1, max_size=4).map(
        lambda new: bytes(new.get(i, byte) for i, byte in enumerate(body))
    )
    cut = st.tuples(places, places).map(lambda ends: body[: min(ends)] + body[max(ends) :])
    return replaced | cut


def read_or_say_what_is_wrong(read: Any, body: bytes) -> None:
    try:
        read(body)
    except StoreTrouble as trouble:
        assert str(trouble)  # noqa: PT017


@given(changed(RECORD) | st.binary(max_size=40))
def test_a_damaged_record_is_read_or_called_damaged(body):
    read_or_say_what_is_wrong(KNOWING.decode, body)
    read_or_say_what_is_wrong(LOOKING.decode, body)


@given(changed(SNAPSHOT) | st.binary(max_size=40))
def test_a_damaged_snapshot_is_read_or_called_damaged(body):
    read_or_say_what_is_wrong(KNOWING.decode_view, body)
    read_or_say_what_is_wrong(LOOKING.decode_view, body)


@given(changed(VALUE) | st.binary(max_size=40))
def test_a_damaged_value_is_read_or_called_damaged(body):
    read_or_say_what_is_wrong(KNOWING.decode_value, body)
    read_or_say_what_is_wrong(LOOKING.decode_value, body)
