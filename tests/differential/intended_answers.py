"""Where questions, answers, breakpoints and commands are meant to differ, and why.

Promises: see `intended`, which lists these together with the others.
"""

from __future__ import annotations

from typing import Any

from .intended_changes import (
    Intended,
    append,
    drop,
    joined_by,
    logged,
    plus,
    put,
    question,
    raised,
    stands,
    task,
    then,
)

NOTHING_WAITS = (
    "An answer that no question waits for is refused and says so, never given to another one."
)
ANY_ANSWER = "None and the empty mapping are answers like any other."
ADDED = "What a command's goto adds is a task of the step at hand and is shown there."


def waiting(count: int, values: Any, asked: Any, result: Any = None) -> Any:
    """The state of a thread whose node `b` asks."""
    return stands(count, values, task(1, "b", result, (asked,)))


def answered_with(answer: Any) -> dict[str, Any]:
    """The answer goes to the one question of `asking`, and the thread finishes."""
    values = logged("a", f"?={answer}", "c")
    return {"invoke 2": values, "state 1": stands(3, values)}


ANSWERS: dict[str, Intended] = {
    # --------------------------------------------------------------------------------- questions
    "a_question_in_a_conditional_edge": Intended(
        "An edge's function that asks is a task of its own: the node's result stands and is shown.",
        {
            "state 1": then(
                put(logged("a"), "values"),
                put(logged("a"), "tasks", 0, "result"),
            )
        },
    ),
    "a_question_without_a_checkpointer": Intended(
        "A question that nobody could answer is an error, and it says what to add.",
        {"invoke 1": raised("RuntimeError")},
    ),
    "a_swallowed_question": Intended(
        "A pause that was eaten is a pause.",
        {
            "invoke 1": {"log": [], "__interrupt__": [question(1, "?")]},
            "state 1": waiting(0, logged(), question(1, "?")),
        },
    ),
    "two_questions_in_one_node": Intended(
        "The past shows every question that a task asked, not only the last one.",
        {
            "history 1": then(
                put(lambda last: (question(1, "one?"), *last), 2, "interrupts"),
                put(lambda last: (question(1, "one?"), *last), 2, "tasks", 0, "interrupts"),
            )
        },
    ),
    "none_while_a_question_is_open": Intended(
        "Nothing runs while the only thing to wait for is an answer.",
        {"passes 1": plus(-1)},
    ),
    # ----------------------------------------------------------------------------------- answers
    "a_question_in_the_first_and_the_last_node": Intended(
        NOTHING_WAITS, {"invoke 4": raised("Exception")}
    ),
    "an_answer_given_twice": Intended(
        NOTHING_WAITS,
        {
            "invoke 3": raised("Exception"),
            "state 1": waiting(1, logged("a"), question(2, "two?")),
        },
    ),
    "a_resume_where_nothing_waits": Intended(NOTHING_WAITS, {"invoke 2": raised("Exception")}),
    "a_resume_on_a_thread_that_never_started": Intended(
        NOTHING_WAITS, {"invoke 1": raised("EmptyInputError")}
    ),
    "a_typed_question_refuses_an_answer_and_stays_open": Intended(
        "An answer is checked before it is recorded, so a bad one does not make the task fail.",
        {"invoke 2": raised("ValueError"), "state 1": put(drop("error"), "tasks", 0)},
    ),
    "an_answer_for_an_unknown_question": Intended(
        "A mapping that names no question of the thread is itself the answer to the open one.",
        answered_with({"0" * 32: "x"}),
    ),
    "an_answer_of_none": Intended(ANY_ANSWER, answered_with(None)),
    "an_answer_of_an_empty_dict": Intended(ANY_ANSWER, answered_with({})),
    # ------------------------------------------------------------------------ what a command adds
    "an_answer_with_a_goto": Intended(ADDED, {"history 1": joined_by(1, 2, "side")}),
    "a_goto_at_a_breakpoint": Intended(ADDED, {"history 1": joined_by(2, 3, "side")}),
    "a_command_as_the_input_of_a_finished_thread": Intended(
        ADDED, {"history 1": joined_by(1, 1, "b")}
    ),
    "a_goto_without_an_answer_while_a_question_is_open": Intended(
        ADDED,
        {
            "state 1": then(
                put(append(task(2, "side", logged("side"))), "tasks"),
                put(logged("a", "side"), "values"),
            )
        },
    ),
    "a_command_with_an_update_as_the_first_input": Intended(
        "A command's update is applied once, also when the command begins the thread.",
        {"invoke 1": logged("in", "a", "b")},
    ),
    "a_breakpoint_after_the_last_node": Intended(
        "After the last node nothing is held, so nothing is shown.",
        {"stream 1": lambda chunks: chunks[:-1]},
    ),
}
