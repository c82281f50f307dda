"""Reading a log never imports or calls what it names, and refuses what it cannot understand."""

from __future__ import annotations

import dataclasses
import importlib
import operator
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from caesura import START, MemoryStore, SqliteStore, StateGraph, interrupt, once
from caesura.errors import PerformedUnrecorded, UnknownFormat, UnserializableValue


class Parcels(TypedDict):
    notes: Annotated[list[Any], operator.add]


def graph_that_writes(value: Any, store: Any, **compiled: Any) -> Any:
    def write(state: Parcels) -> dict[str, Any]:
        return {"notes": [value]}

    graph = StateGraph(Parcels).add_node(write).add_edge(START, "write")
    return graph.compile(checkpointer=store, name="parcels", **compiled)


@pytest.fixture
def booby_trapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module with a dataclass; once `arm` is called, importing it again leaves a mark."""
    folder = tmp_path / "modules"
    folder.mkdir()
    source, mark = folder / "parcel_types.py", tmp_path / "imported"
    source.write_text(
        "import dataclasses\n@dataclasses.dataclass\nclass Parcel:\n    weight: int\n"
    )
    monkeypatch.syspath_prepend(str(folder))
    module = importlib.import_module("parcel_types")

    def arm() -> None:
        monkeypatch.delitem(sys.modules, "parcel_types")
        importlib.invalidate_caches()
        source.write_text(f"open({str(mark)!r}, 'w').close()\n")

    return module.Parcel, arm, mark


def test_a_registered_type_comes_back_as_itself(tmp_path: Path, booby_trapped: Any) -> None:
    parcel, _, _ = booby_trapped
    with SqliteStore(tmp_path / "app.db") as store:
        graph_that_writes(parcel(5), store, types=[parcel]).invoke({"notes": []}, thread="t")
    with SqliteStore(tmp_path / "app.db") as store:
        state = graph_that_writes(None, store, types=[parcel]).get_state("t")
    assert state.values["notes"] == [parcel(5)]


def test_a_type_that_the_reader_does_not_know_is_shown_and_never_imported(
    tmp_path: Path, booby_trapped: Any
) -> None:
    parcel, arm, mark = booby_trapped
    with SqliteStore(tmp_path / "app.db") as store:
        graph_that_writes(parcel(5), store, types=[parcel]).invoke({"notes": []}, thread="t")
    arm()
    with SqliteStore(tmp_path / "app.db") as store:
        (value,) = graph_that_writes(None, store).get_state("t").values["notes"]
    assert not mark.exists()
    assert "parcel_types" not in sys.modules
    assert "Parcel" in value.name
    assert value.data == {"weight": 5}


def test_a_type_named_after_a_dangerous_function_is_never_called(tmp_path: Path) -> None:
    mark = tmp_path / "called"
    system = dataclasses.make_dataclass("system", [("command", str)])
    system.__module__ = "os"
    with SqliteStore(tmp_path / "app.db") as store:
        written = system(f"touch {mark}")
        graph_that_writes(written, store, types=[system]).invoke({"notes": []}, thread="t")
    with SqliteStore(tmp_path / "app.db") as store:
        (value,) = graph_that_writes(None, store).get_state("t").values["notes"]
        list(graph_that_writes(None, store).get_state_history("t"))
    assert not mark.exists()
    assert value.data == {"command": f"touch {mark}"}


def test_a_thread_with_a_value_of_an_unknown_type_can_go_on(
    tmp_path: Path, booby_trapped: Any
) -> None:
    parcel, arm, mark = booby_trapped
    with SqliteStore(tmp_path / "app.db") as store:
        graph_that_writes(parcel(5), store, types=[parcel]).invoke({"notes": []}, thread="t")
    arm()
    with SqliteStore(tmp_path / "app.db") as store:
        graph_that_writes("one more", store).invoke({"notes": []}, thread="t")
    with SqliteStore(tmp_path / "app.db") as store:
        notes = graph_that_writes(None, store, types=[parcel]).get_state("t").values["notes"]
    assert notes == [parcel(5), "one more"]
    assert not mark.exists()


class State(TypedDict):
    n: int


def node(state: State) -> dict[str, Any]:
    return {"n": state["n"] + 1}


WRITTEN_BY_THE_FUTURE = """
import sys
import caesura.core.events as events
events.FORMAT += 1
from typing import TypedDict
from caesura import START, SqliteStore, StateGraph

class State(TypedDict):
    n: int

def node(state):
    return {"n": state["n"] + 1}

with SqliteStore(sys.argv[1]) as store:
    graph = StateGraph(State).add_node(node).add_edge(START, "node")
    graph.compile(checkpointer=store, name="future").invoke({"n": 1}, thread="t")
"""


@pytest.mark.process
@pytest.mark.parametrize("attempt", ["invoke", "get_state", "history", "update_state"])
def test_a_log_from_a_future_version_is_refused_with_a_remedy(attempt: str, tmp_path: Path) -> None:
    database = tmp_path / "app.db"
    ran = subprocess.run(
        [sys.executable, "-c", WRITTEN_BY_THE_FUTURE, str(database)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr

    with SqliteStore(database) as store:
        builder = StateGraph(State).add_node(node).add_edge(START, "node")
        graph = builder.compile(checkpointer=store, name="future")
        attempts: dict[str, Callable[[], Any]] = {
            "invoke": lambda: graph.invoke({"n": 5}, thread="t"),
            "get_state": lambda: graph.get_state("t"),
            "history": lambda: list(graph.get_state_history("t")),
            "update_state": lambda: graph.update_state("t", {"n": 7}),
        }
        with pytest.raises(UnknownFormat, match="Upgrade caesura"):
            attempts[attempt]()


def a_callback() -> None:
    """Something that no log can hold."""


NESTED = {"steps": ["fine", {"callback": a_callback}]}


def test_a_value_that_cannot_be_written_is_refused_with_its_path() -> None:
    with pytest.raises(UnserializableValue) as refused:
        graph_that_writes(NESTED, MemoryStore()).invoke({"notes": ["a"]}, thread="t")
    assert refused.value.path == "notes[0].steps[1].callback"
    assert "function" in str(refused.value)
    assert "Store its name" in str(refused.value)


def test_what_was_refused_leaves_the_thread_readable_and_the_node_to_be_run_again() -> None:
    store = MemoryStore()
    with pytest.raises(UnserializableValue):
        graph_that_writes(NESTED, store).invoke({"notes": ["a"]}, thread="t")
    state = graph_that_writes(NESTED, store).get_state("t")
    assert (state.values, state.next) == ({"notes": ["a"]}, ("write",))
    mended = graph_that_writes("mended", store)
    assert mended.invoke(None, thread="t")["notes"] == ["a", "mended"]


def test_an_input_that_cannot_be_written_is_refused_with_its_path() -> None:
    graph = graph_that_writes("x", MemoryStore())
    with pytest.raises(UnserializableValue, match=r"notes\[2\]\.callback"):
        graph.invoke({"notes": ["a", "b", {"callback": a_callback}]}, thread="t")


def test_a_question_that_cannot_be_written_is_refused_with_its_path() -> None:
    def ask(state: Parcels) -> dict[str, Any]:
        return {"notes": [interrupt({"look at": [a_callback]})]}

    graph = StateGraph(Parcels).add_node(ask).add_edge(START, "ask")
    with pytest.raises(UnserializableValue, match=r"look at"):
        graph.compile(checkpointer=MemoryStore()).invoke({"notes": []}, thread="t")


def test_an_effect_whose_result_cannot_be_written_is_not_repeated_until_somebody_decides() -> None:
    performed: list[str] = []

    def charge() -> Any:
        performed.append("charged")
        return a_callback

    def pay(state: Parcels) -> dict[str, Any]:
        return {"notes": [once(charge)]}

    graph = (
        StateGraph(Parcels).add_node(pay).add_edge(START, "pay").compile(checkpointer=MemoryStore())
    )
    with pytest.raises(PerformedUnrecorded, match="charge"):
        graph.invoke({"notes": []}, thread="t")
    with pytest.raises(PerformedUnrecorded, match="settle"):
        graph.invoke(None, thread="t")
    assert performed == ["charged"]
    graph.settle("t", "charge", result="receipt 1", by="ana")
    assert graph.invoke(None, thread="t")["notes"] == ["receipt 1"]
    assert performed == ["charged"]
