"""One process of its own, doing one thing to a thread and printing what became of it as JSON.

Usage: worker.py STORY DATABASE EFFECTS [ROUNDS]. Called by the tests beside it, never imported.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orders

from caesura import Command, SqliteStore

THREAD = "order-7"
START_WITH = {"rounds": 0, "notes": []}


def resume(store: SqliteStore, world: orders.World) -> Any:
    """Look, wait for the word, then answer the question that was seen."""
    graph = orders.one_question(store, world)
    (question,) = graph.get_state(THREAD).interrupts
    orders.say("ready")
    input()
    return graph.invoke(Command(resume={question.id: "yes"}), thread=THREAD, by=input())


def finish(store: SqliteStore, world: orders.World) -> Any:
    """Whatever was done before, bring the thread to its end, answering what it asks."""
    graph = orders.many_rounds(store, world, int(sys.argv[4]))
    orders.say("open")
    result = graph.invoke(START_WITH, thread=THREAD, request_id="begin")
    while True:
        state = graph.get_state(THREAD)
        if state.interrupts:
            orders.say("answering")
            answers = {question.id: "sealed" for question in state.interrupts}
            result = graph.invoke(Command(resume=answers), thread=THREAD)
        elif state.next:
            result = graph.invoke(None, thread=THREAD)
        else:
            return result


def hold(store: SqliteStore, world: orders.World) -> Any:
    graph = orders.holding(store, world)
    return graph.invoke(START_WITH, thread=THREAD, request_id="begin")


def hold_patiently(store: SqliteStore, world: orders.World) -> Any:
    graph = orders.holding(store, world)
    orders.say("asking")
    return graph.invoke(START_WITH, thread=THREAD, request_id="begin", on_busy="wait")


STORIES: dict[str, Callable[[SqliteStore, orders.World], Any]] = {
    story.__name__: story for story in (resume, finish, hold, hold_patiently)
}


def main() -> None:
    story, database, effects = sys.argv[1:4]
    with SqliteStore(database) as store:
        try:
            result = STORIES[story](store, orders.World(Path(effects)))
            outcome = {"ok": result["notes"]}
        except Exception as error:
            outcome = {"error": type(error).__name__, "message": str(error)}
    orders.say(json.dumps(outcome))


if __name__ == "__main__":
    main()
