"""Where state, history, updates and time travel are meant to differ, and why.

Promises: see `intended`, which lists these together with the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .intended_changes import Intended, raised

THE_HEAD = (
    "A config that names the step at hand is the head and no time travel: nothing is copied, and "
    "an open question stays open with its id, so that a person's answer still finds it."
)
CARRIED_OVER = (
    "An update of a waiting thread keeps what is finished and what was asked: siblings do not run "
    "again, and a question that the update does not change stays open with its id."
)


def renamed(seen: Any, names: Mapping[str, str]) -> Any:
    """The same with other ordinals."""
    match seen:
        case str():
            return names.get(seen, seen)
        case dict():
            return {key: renamed(value, names) for key, value in seen.items()}
        case list() | tuple():
            return type(seen)(renamed(value, names) for value in seen)
    return seen


def without_the_fork(history: Any, names: Mapping[str, str]) -> Any:
    """What followed the fork of the head follows the head itself."""
    last, fork, head, *older = history
    last = last | {
        "parent": head["config"],
        "metadata": last["metadata"] | {"step": last["metadata"]["step"] - 1},
    }
    (task,), (its_fork,) = head["tasks"], fork["tasks"]
    head = head | {"tasks": [task | {"result": its_fork["result"]}]}
    return renamed([last, head, *older], names)


def asking(shot: Any, question: Any) -> Any:
    """A snapshot whose one task asks."""
    (task,) = shot["tasks"]
    return shot | {"interrupts": (question,), "tasks": [task | {"interrupts": (question,)}]}


def asking_below(shot: Any, question: Any) -> Any:
    """A snapshot in whose one task a child asks."""
    (task,) = shot["tasks"]
    return shot | {"tasks": [task | {"state": asking(task["state"], question)}]}


def without_parents(shot: Any) -> Any:
    return shot | {"metadata": shot["metadata"] | {"parents": {}}}


QUESTION = {"asks": "?", "id": "question-1"}
FIRST = {"question-2": "question-1"}

STATE: dict[str, Intended] = {
    "a_replay_of_the_head_is_nothing": Intended(THE_HEAD, {"history 2": lambda seen: seen[1:]}),
    "a_replay_of_the_head_at_a_breakpoint": Intended(
        THE_HEAD,
        {
            "history 1": lambda seen: without_the_fork(
                seen, {"step-5": "step-4", "task-3": "task-2", "task-4": "task-3"}
            )
        },
    ),
    "a_replay_of_a_waiting_step_while_it_waits": Intended(
        THE_HEAD,
        {
            "invoke 2": lambda seen: renamed(seen, FIRST),
            "state 2": lambda seen: (
                renamed(seen, {**FIRST, "step-3": "step-1", "task-2": "task-1"})
                | {
                    "metadata": {"parents": {}, "source": "loop", "step": 1},
                    "parent": {"step": "step-2", "thread": "t"},
                }
            ),
            "history 1": lambda seen: without_the_fork(
                seen,
                {"step-4": "step-3", "step-5": "step-4", "task-3": "task-2", "task-4": "task-3"},
            ),
        },
    ),
    "the_state_of_an_unknown_step": Intended(
        "A step that a thread does not have (a mistyped id, one of another thread, one that was "
        "pruned) is an error that says so, and not an empty state that reads like a new thread.",
        {"state 1": raised("Exception")},
    ),
    "update_while_a_question_is_open": Intended(
        CARRIED_OVER,
        {
            "state 1": lambda seen: asking(seen, QUESTION),
            "invoke 2": lambda seen: renamed(seen, FIRST),
            "history 1": lambda seen: renamed(seen, FIRST),
        },
    ),
    "update_while_a_sibling_is_finished": Intended(
        CARRIED_OVER,
        {
            "state 1": lambda seen: (
                seen
                | {
                    "interrupts": (QUESTION,),
                    "next": ("asks",),
                    "tasks": [
                        seen["tasks"][0] | {"interrupts": (QUESTION,)},
                        seen["tasks"][1] | {"result": {"log": ["quick"]}},
                    ],
                    "values": {"log": ["a", "noted", "quick"]},
                }
            ),
            "invoke 2": lambda seen: renamed(seen, FIRST),
            "calls 1": 1,
        },
    ),
    "update_the_state_of_a_waiting_child": Intended(
        CARRIED_OVER, {"state 2": lambda seen: asking_below(seen, QUESTION)}
    ),
    "update_without_a_checkpointer": Intended(
        "Whatever needs a store and has none raises the same error, which is both of the builtin "
        "ones that LangGraph raises in such places.",
        {"update 1": raised("RuntimeError"), "state 1": raised("RuntimeError")},
    ),
    "a_replay_of_a_step_inside_the_child": Intended(
        "A thread's own graph has no graphs around it, so its steps have no parents, also when the "
        "thread went back to a step of a child.",
        {
            "state 2": without_parents,
            "history 2": lambda seen: [without_parents(entry) for entry in seen],
        },
    ),
}
