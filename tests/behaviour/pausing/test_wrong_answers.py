"""Answers that cannot be right are refused, say why, and change nothing."""

from __future__ import annotations

import pytest

from caesura import Answer, Answers, interrupt
from caesura.errors import (
    AlreadyAnswered,
    AmbiguousAnswer,
    Conflict,
    EmptyInputError,
    NotFound,
    UnknownQuestion,
)

A_LOOKALIKE = "0123456789abcdef0123456789abcdef"
MULTIPLE = (
    "^When there are multiple pending interrupts, you must specify the interrupt id when resuming"
)


@pytest.fixture
def graph(app):
    def confirm(state):
        return {"notes": [f"heard {interrupt('sure?', key='verdict')!r}"]}

    return app.chain(confirm)


@pytest.fixture
def two_open(app):
    """Two nodes side by side that ask."""

    def name(state):
        return {"notes": [interrupt("name?", key="name")]}

    def age(state):
        return {"notes": [interrupt("age?", key="age")]}

    return app.side_by_side(name, age)


# ------------------------------------------------------------------------------------ one is open
def test_an_answer_to_an_unknown_id_is_refused_and_names_the_open_ones(app, graph):
    (question,) = app.run(graph, {}).interrupts
    with pytest.raises(UnknownQuestion) as refused:
        app.record_answer(graph, A_LOOKALIKE, "yes")
    assert refused.value.interrupt_ids == [A_LOOKALIKE]
    assert app.state(graph).interrupts == (question,)


def test_a_wrapped_map_with_an_unknown_id_is_refused_and_names_the_open_ones(app, graph):
    (question,) = app.run(graph, {}).interrupts
    with pytest.raises(UnknownQuestion) as refused:
        app.answer(graph, Answers({A_LOOKALIKE: "yes"}))
    assert refused.value.pending_ids == [question.id]


def test_a_wrapped_map_with_one_unknown_id_records_nothing(app, two_open):
    asked = app.run(two_open, {}).interrupts
    with pytest.raises(UnknownQuestion):
        app.answer(two_open, Answers({asked[0].id: "yes", A_LOOKALIKE: "no"}))
    assert app.state(two_open).interrupts == asked


def test_a_mapping_that_only_looks_like_a_map_of_ids_is_the_answer(app, graph):
    app.run(graph, {})
    result = app.answer(graph, {A_LOOKALIKE: "yes"})
    assert result["notes"] == [f"heard {{'{A_LOOKALIKE}': 'yes'}}"]


def test_a_mapping_that_could_be_the_answer_and_a_map_is_refused_with_both_ways_to_say_it(
    app, graph
):
    app.run(graph, {})
    with pytest.raises(AmbiguousAnswer, match=r"(?s)Answer\(.*Answers\(\{"):
        app.answer(graph, {"verdict": "yes"})


def test_an_ambiguous_mapping_leaves_the_question_open(app, graph):
    asked = app.run(graph, {}).interrupts
    with pytest.raises(AmbiguousAnswer):
        app.answer(graph, {"verdict": "yes"})
    assert app.state(graph).interrupts == asked


# ----------------------------------------------------------------------------------- several open
def test_one_value_for_several_questions_is_refused_in_the_known_words(app, two_open):
    app.run(two_open, {})
    with pytest.raises(RuntimeError, match=MULTIPLE):
        app.answer(two_open, "yes")


@pytest.mark.parametrize(
    "value", ["yes", None, {}, False, {"other": 1}, {A_LOOKALIKE: 1}], ids=repr
)
def test_any_value_that_names_no_question_is_ambiguous_when_several_are_open(app, two_open, value):
    app.run(two_open, {})
    with pytest.raises(AmbiguousAnswer):
        app.answer(two_open, value)


def test_an_ambiguous_value_answers_nothing(app, two_open):
    asked = app.run(two_open, {}).interrupts
    with pytest.raises(AmbiguousAnswer):
        app.answer(two_open, "yes")
    assert app.state(two_open).interrupts == asked


def test_two_questions_with_one_key_are_not_told_apart_by_it(app):
    def left(state):
        return {"notes": [interrupt("left?", key="sure")]}

    def right(state):
        return {"notes": [interrupt("right?", key="sure")]}

    graph = app.side_by_side(left, right)
    asked = app.run(graph, {}).interrupts
    with pytest.raises(AmbiguousAnswer):
        app.answer(graph, {"sure": "yes"})
    assert app.state(graph).interrupts == asked


# ------------------------------------------------------------------------------- already answered
def test_a_second_answer_is_refused_and_names_the_first_person(app, graph):
    (question,) = app.run(graph, {}).interrupts
    app.record_answer(graph, question.id, "yes", by="ana")
    with pytest.raises(AlreadyAnswered, match="by ana"):
        app.record_answer(graph, question.id, "no", by="bo")


def test_a_second_answer_is_refused_and_says_when_the_first_came(app, graph):
    (question,) = app.run(graph, {}).interrupts
    app.record_answer(graph, question.id, "yes", by="ana")
    app.wait(hours=1)
    with pytest.raises(AlreadyAnswered) as refused:
        app.record_answer(graph, question.id, "no", by="bo")
    assert refused.value.at
    assert str(refused.value.at) in str(refused.value)


def test_a_second_answer_does_not_replace_the_first(app, graph):
    (question,) = app.run(graph, {}).interrupts
    app.record_answer(graph, question.id, "yes", by="ana")
    with pytest.raises(AlreadyAnswered):
        app.record_answer(graph, question.id, "no", by="bo")
    assert app.go_on(graph)["notes"] == ["heard 'yes'"]


def test_a_second_answer_by_a_map_of_ids_is_refused(app, two_open):
    asked = app.run(two_open, {}).interrupts
    app.answer(two_open, {asked[0].id: "yes"}, by="ana")
    with pytest.raises(AlreadyAnswered, match="by ana"):
        app.answer(two_open, {asked[0].id: "no"})


def test_a_map_with_one_closed_question_records_nothing(app, two_open):
    asked = app.run(two_open, {}).interrupts
    app.answer(two_open, {asked[0].id: "yes"})
    with pytest.raises(AlreadyAnswered):
        app.answer(two_open, {asked[0].id: "no", asked[1].id: "no"})
    assert app.state(two_open).interrupts == asked[1:]


def test_an_answer_by_the_id_of_an_earlier_question_does_not_reach_the_later_one(app):
    def introduce(state):
        return {"notes": [interrupt("name?"), interrupt("age?")]}

    graph = app.chain(introduce)
    (name,) = app.run(graph, {}).interrupts
    (age,) = app.answer(graph, "Ana").interrupts
    with pytest.raises(AlreadyAnswered):
        app.answer(graph, {name.id: "Bo"})
    assert app.state(graph).interrupts == (age,)


# ----------------------------------------------------------------------------------- nothing open
def test_answering_a_finished_thread_by_id_says_that_it_was_answered(app, graph):
    (question,) = app.run(graph, {}).interrupts
    app.answer(graph, "yes", by="ana")
    with pytest.raises(AlreadyAnswered, match="by ana"):
        app.record_answer(graph, question.id, "no")


def test_answering_a_finished_thread_by_a_map_says_that_it_was_answered(app, graph):
    (question,) = app.run(graph, {}).interrupts
    app.answer(graph, "yes", by="ana")
    with pytest.raises(AlreadyAnswered, match="by ana"):
        app.answer(graph, {question.id: "no"})


@pytest.mark.parametrize("value", ["no", None, {}, False], ids=repr)
def test_answering_a_finished_thread_by_value_is_refused(app, graph, value):
    app.run(graph, {})
    app.answer(graph, "yes")
    with pytest.raises((NotFound, Conflict)):
        app.answer(graph, value)


def test_answering_a_finished_thread_changes_nothing(app, graph):
    app.run(graph, {})
    app.answer(graph, "yes")
    with pytest.raises((NotFound, Conflict)):
        app.answer(graph, "no")
    assert app.state(graph).values["notes"] == ["heard 'yes'"]


def test_answering_a_thread_that_never_started_is_refused(app, graph):
    with pytest.raises((NotFound, EmptyInputError)):
        app.answer(graph, "yes", thread="nobody")


def test_an_answer_on_another_thread_does_not_reach_the_question(app, graph):
    (here,) = app.run(graph, {}, thread="here").interrupts
    app.run(graph, {}, thread="there")
    with pytest.raises(UnknownQuestion):
        app.answer(graph, Answers({here.id: "yes"}), thread="there")
    assert app.state(graph, thread="here").interrupts == (here,)


# ---------------------------------------------------------------------- questions of another thread
def test_a_map_that_names_a_question_of_another_thread_is_refused_and_names_that_thread(app, graph):
    (theirs,) = app.run(graph, {}, thread="theirs").interrupts
    app.run(graph, {})

    with pytest.raises(UnknownQuestion, match=r"thread 'theirs'.*Answer\("):
        app.answer(graph, {theirs.id: "yes"})
    with pytest.raises(UnknownQuestion, match="thread 'theirs'"):
        app.answer(graph, {theirs.id: "yes", "and": "more"})
    with pytest.raises(UnknownQuestion, match="thread 'theirs'"):
        app.answer(graph, Answers({theirs.id: "yes"}))
    assert app.open_questions(graph) == ["sure?"]
    assert app.open_questions(graph, thread="theirs") == ["sure?"]


def test_an_answer_that_is_said_to_be_one_may_name_a_question_of_another_thread(app, graph):
    (theirs,) = app.run(graph, {}, thread="theirs").interrupts
    app.run(graph, {})
    result = app.answer(graph, Answer({theirs.id: "yes"}))

    assert result["notes"] == [f"heard {{{theirs.id!r}: 'yes'}}"]
