"""Where failures, routing, limits, states and the functional form are meant to differ, and why.

Promises: see `intended`, which lists these together with the others.
"""

from __future__ import annotations

from typing import Any

from .intended_changes import (
    Change,
    Intended,
    Like,
    at_step,
    counted,
    entry,
    insert,
    later,
    logged,
    put,
    question,
    raised,
    reorder,
    stands,
    task,
    then,
)

HANDLED = (
    "An error handler is a node and a superstep of its own in the log: its pause, its failure and "
    "its result are seen where they happen, and the failed node's entry keeps its error."
)
FUNCTIONAL = (
    "An entrypoint is a graph of one node like any other: its input makes an entry of its own, and "
    "steps are counted with it."
)
UNKNOWN = "An unknown name is an error that suggests the nearest one, never a silent end."
ORDER = "Tasks are in order by rule: those of edges by node name, then Sends as they were issued."
LIMIT = "The recursion limit is the number of supersteps that may run, no more and no less."
LOOKABLE = "A thread whose model refuses a value can still be looked at."

HANDLER = "__error_handler__b"


def in_its_handler(**more: Any) -> Change:
    """The state while the handler of `b` is what failed or waits."""
    return stands(2, logged("a"), task(1, HANDLER, **more))


def begun_by_its_input(seen: Any) -> Any:
    """The state of an entrypoint's first pass, which now follows the entry of its input."""
    metadata = {**seen["metadata"], "source": "loop", "step": 0}
    return {**seen, "parent": at_step(2), "metadata": metadata}


def no_node(number: int, name: str, result: Any = None) -> dict[str, Any]:
    return task(number, name, result, error=Like("UnknownNode.*nowhere"))


RUNNING: dict[str, Intended] = {
    # ---------------------------------------------------------------------------------- failures
    "an_error_handler_takes_over": Intended(
        HANDLED,
        {
            "history 1": then(
                later("task", 1),
                later("step", 2),
                insert(1, entry(2, 3, 2, logged("a"), task(1, HANDLER, logged("rescued after 1")))),
                put(then(counted(1), put(at_step(2), "parent")), 0),
            )
        },
    ),
    "an_error_handler_that_fails": Intended(
        HANDLED, {"state 1": in_its_handler(error="ValueError('worse')")}
    ),
    "an_error_handler_asks": Intended(
        HANDLED,
        {"state 1": in_its_handler(asks=(question(1, "what now?"),)), "state 2": counted(1)},
    ),
    "an_error_handler_beside_a_sibling": Intended(
        HANDLED,
        {"state 1": put(reorder(0, 2, 1), "values", "log")},
    ),
    "a_conditional_edges_function_fails_once": Intended(
        "The edge's function is called again, so what follows is not skipped.",
        {
            "invoke 2": logged("a", "b"),
            "state 1": then(counted(1), put(logged("a", "b"), "values")),
        },
    ),
    # --------------------------------------------------------------------------- functional form
    "an_entrypoint_returns_its_value": Intended(FUNCTIONAL, {"state 1": counted(1)}),
    "an_entrypoint_that_returns_a_dict": Intended(FUNCTIONAL, {"state 1": counted(1)}),
    "final_returns_one_thing_and_saves_another": Intended(FUNCTIONAL, {"state 1": counted(2)}),
    "previous_is_what_was_returned_before": Intended(FUNCTIONAL, {"state 1": counted(3)}),
    "an_entrypoint_fails_and_is_run_again": Intended(FUNCTIONAL, {"state 1": begun_by_its_input}),
    "two_pauses_and_tasks_between": Intended(FUNCTIONAL, {"state 1": begun_by_its_input}),
    "an_entrypoint_pauses": Intended(
        FUNCTIONAL,
        {
            "state 1": begun_by_its_input,
            "history 1": then(
                later("step", 2),
                put(counted(1), 0),
                put(begun_by_its_input, 1),
                insert(2, entry(2, None, -1, None, task(2, "__start__", 3), source="input")),
            ),
        },
    ),
    # ------------------------------------------------------------------------------------ routing
    "a_command_to_an_unknown_node": Intended(
        UNKNOWN,
        {"invoke 1": raised("ValueError"), "state 1": stands(0, logged(), no_node(1, "a"))},
    ),
    "a_command_to_an_unknown_node_as_input": Intended(UNKNOWN, {"invoke 2": raised("ValueError")}),
    "a_send_to_an_unknown_node": Intended(UNKNOWN, {"invoke 1": raised("ValueError")}),
    "an_unknown_target_of_a_conditional_edge": Intended(
        UNKNOWN,
        {
            "invoke 1": raised("ValueError"),
            # The edge's function has yet to say where to go, so its node is not over.
            "state 1": lambda seen: {
                **put(no_node(1, "a", logged("a")), "tasks", 0)(seen),
                "next": ("a",),
            },
        },
    ),
    "an_unknown_target_without_a_map": Intended(UNKNOWN, {"invoke 1": raised("ValueError")}),
    "sends_and_names_in_one_list": Intended(
        ORDER,
        {
            "history 1": put(
                stands(
                    1,
                    logged("a"),
                    task(1, "b", logged("b")),
                    task(2, "c", logged("c2")),
                    task(3, "c", logged("c1")),
                ),
                1,
            )
        },
    ),
    "next_of_branches_added_in_another_order": Intended(
        ORDER,
        {
            "history 1": put(
                stands(0, logged(), task(1, "a", logged("a")), task(2, "b", logged("b"))), 1
            ),
            "next 1": put(("a", "b"), 1),
        },
    ),
    # ----------------------------------------------------------------------------- running, limits
    "an_async_node_in_a_sync_call": Intended(
        "Async nodes run in sync calls too.", {"invoke 1": logged("a")}
    ),
    "the_recursion_limit_is_exactly_enough": Intended(LIMIT, {"invoke 1": {"n": 4}}),
    "a_stopped_loop_stops_again_at_the_same_limit": Intended(
        LIMIT, {"state 1": stands(8, {"n": 8}, task(1, "step"))}
    ),
    # -------------------------------------------------------------------------------- state forms
    "a_dataclass_without_a_default_that_is_absent": Intended(
        "The error names the key that the state lacks.", {"invoke 2": raised("InvalidUpdateError")}
    ),
    "a_node_that_returns_a_pydantic_object": Intended(
        "A returned model writes the fields that were set or changed from their default; those "
        "left alone do not overwrite the state.",
        {"invoke 1": put(3, "n")},
    ),
    "a_pydantic_state_refuses_an_input": Intended(
        LOOKABLE,
        {
            "state 1": {
                **entry(0, None, 0, {}),
                "config": {"thread": "t", "step": None},
                "metadata": None,
                "created_at": None,
            }
        },
    ),
    "a_pydantic_state_refuses_what_a_node_wrote": Intended(
        LOOKABLE,
        {
            "state 1": entry(
                1,
                2,
                1,
                {"log": [], "n": "not a number"},
                task(1, "b", error=Like("ValidationError.*not a number")),
            )
        },
    ),
    "an_overwrite_of_a_key_without_a_reducer": Intended(
        "Overwrite means its value everywhere, with a reducer and without.",
        {"invoke 1": put(9, "n")},
    ),
}
