"""Whatever is done to a thread, in whatever order, its past is told without contradiction."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, strategies as st

from caesura import END, START, Command, MemoryStore, StateGraph, once
from caesura.engine import folios
from caesura.errors import EmptyInputError, InvalidUpdateError, NotFound
from caesura.testing import ManualClock
from tests.behaviour.both import Story
from tests.behaviour.state.words import asking, id_of, saying

REFUSALS = (EmptyInputError, InvalidUpdateError, NotFound)


def story() -> Any:
    """Two branches that both wait, one of them in a child, and meet in a join."""

    def pay(state):
        return {"notes": [once(lambda: "paid", key="pay")]}

    child = StateGraph(Story).add_node(saying("one")).add_node(asking("in the child?"))
    child = child.add_edge(START, "one").add_edge("one", "review").compile(name="child")
    builder = StateGraph(Story).add_node(pay).add_node(saying("b")).add_node("child", child)
    builder.add_node("ask", asking("beside it?")).add_node(saying("end"))
    builder.add_edge(START, "pay").add_edge(START, "b").add_edge("pay", "ask")
    builder.add_edge("b", "child").add_edge(["ask", "child"], "end")
    return builder.compile(MemoryStore(clock=ManualClock()), name="story")


class Player:
    """Does one thing after another to one thread; what is refused is left."""

    def __init__(self) -> None:
        self.graph = story()

    def do(self, deed: str, which: float, durability: str) -> None:
        history = list(self.graph.get_state_history("t"))
        old = history[int(which * len(history))].config if history else {}
        with contextlib.suppress(*REFUSALS):
            getattr(self, deed)(old, which, {"durability": durability})

    def begin(self, old: Any, which: float, options: Any) -> None:
        self.graph.invoke({"amount": int(which * 9)}, thread="t", **options)

    def go_on(self, old: Any, which: float, options: Any) -> None:
        self.graph.invoke(None, thread="t", **options)

    def answer(self, old: Any, which: float, options: Any) -> None:
        for question in self.graph.get_state("t").interrupts[:1]:
            self.graph.invoke(Command(resume={question.id: which}), thread="t", **options)

    def note(self, old: Any, which: float, options: Any) -> None:
        self.graph.invoke(Command(update={"notes": ["noted"]}), thread="t", **options)

    def update(self, old: Any, which: float, options: Any) -> None:
        node = [None, "pay", "b", "ask", END, "__input__"][int(which * 6)]
        self.graph.update_state("t", {"notes": ["by hand"]}, as_node=node)

    def go_back(self, old: Any, which: float, options: Any) -> None:
        if old:
            self.graph.invoke(None, old, **options)

    def begin_there(self, old: Any, which: float, options: Any) -> None:
        if old:
            self.graph.invoke({"amount": 1}, old, **options)

    def update_there(self, old: Any, which: float, options: Any) -> None:
        if old:
            node = [None, "pay", "__copy__"][int(which * 3)]
            self.graph.update_state(old, {"amount": 2}, as_node=node)

    def go_back_inside(self, old: Any, which: float, options: Any) -> None:
        for step in self._inside(which):
            self.graph.invoke(None, step.config, **options)

    def update_inside(self, old: Any, which: float, options: Any) -> None:
        for step in self._inside(which):
            self.graph.update_state(step.config, {"notes": ["inside"]})

    def prune(self, old: Any, which: float, options: Any) -> None:
        self.graph.prune("t", keep_last=4)

    def _inside(self, which: float) -> list[Any]:
        """A step of a child, if there is any."""
        children = [
            task.state
            for entry in self.graph.get_state_history("t")
            for task in entry.tasks
            if task.state is not None
        ]
        if not children:
            return []
        steps = list(self.graph.get_state_history(children[int(which * len(children))]))
        return steps[int(which * len(steps)) :][:1]


DEEDS = st.sampled_from([name for name in vars(Player) if name[0] != "_" and name != "do"])
STORIES = st.lists(
    st.tuples(DEEDS, st.floats(0, 0.999), st.sampled_from(["sync", "exit"])), max_size=12
)


@pytest.mark.parametrize("floor", [0, 8192], ids=["with snapshots", "without"])
@given(deeds=STORIES)
def test_the_past_is_told_without_contradiction(floor, deeds):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folios, "SNAPSHOT_FLOOR", floor)
        player = Player()
        for deed in deeds:
            player.do(*deed)
        graph = player.graph
        history = list(graph.get_state_history("t"))
        ids, times = [id_of(entry) for entry in history], [entry.created_at for entry in history]
        assert ids == sorted(set(ids), reverse=True)
        assert times == sorted(set(times), reverse=True)
        now = graph.get_state("t")
        assert [shown(now)] == [shown(entry) for entry in history[:1]] or not history
        for entry in history:
            assert graph.get_state(entry.config) == entry
            copy = graph.get_state(graph.copy_thread(entry.config, f"copy of {id_of(entry)}"))
            assert (copy.values, copy.next) == (entry.values, entry.next)


def shown(snapshot: Any) -> Any:
    """What the head and the newest entry of the history have in common."""
    return snapshot.config, snapshot.parent_config, snapshot.metadata, snapshot.created_at
