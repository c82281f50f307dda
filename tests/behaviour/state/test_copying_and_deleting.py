"""Whole threads: a copy under another name, and none at all."""

from __future__ import annotations

import pytest

from caesura import Command, interrupt, once
from caesura.errors import (
    Conflict,
    EmptyInputError,
    GraphMismatch,
    ThreadBusy,
    UnknownQuestion,
    UnknownStep,
    UnknownThread,
)
from tests.behaviour.state.words import before, id_of, parent_of, saying, told


def copy(app, graph, source="t", target="copy"):
    return app.call(graph, "copy_thread", source, target)


def delete(app, graph, thread="t"):
    return app.call(graph, "delete_thread", thread)


class TestCopying:
    def test_the_copy_has_the_state(self, app, finished):
        copy(app, finished)
        assert app.state(finished, thread="copy").values == app.state(finished).values

    def test_the_copy_begins_with_one_entry_that_follows_nothing(self, app, finished):
        config = copy(app, finished)
        (entry,) = app.history(finished, thread="copy")
        assert (told([entry]), parent_of(entry)) == ([("fork", 4, ())], None)
        assert config == entry.config

    def test_the_origin_does_not_change(self, app, finished):
        old = app.history(finished)
        copy(app, finished)
        app.run(finished, {"amount": 2}, thread="copy")
        assert app.history(finished) == old

    def test_the_copy_does_not_need_its_origin(self, app, finished):
        copy(app, finished)
        delete(app, finished)
        assert app.run(finished, {"amount": 2}, thread="copy")["notes"] == ["a", "b", "c"] * 2

    def test_an_older_step_can_be_copied(self, app, finished):
        copy(app, finished, before(app, finished, "b").config)
        assert app.state(finished, thread="copy").next == ("b",)
        assert app.go_on(finished, thread="copy")["notes"] == ["a", "b", "c"]

    def test_the_question_of_the_origin_stays_there_and_the_copy_asks_its_own(self, app, waiting):
        (question,) = app.state(waiting).interrupts
        copy(app, waiting)
        assert app.state(waiting, thread="copy").interrupts == ()
        (asked,) = app.go_on(waiting, thread="copy").interrupts
        assert (asked.value, asked.id != question.id) == ("good?", True)
        assert app.state(waiting).interrupts == (question,)

    def test_effects_of_what_was_unfinished_happen_again_with_keys_of_their_own(self, app):
        keys = []

        def pay(state):
            once(lambda: keys.append(once.key()), key="pay")
            return {"notes": [interrupt("good?")]}

        graph = app.chain(pay)
        app.run(graph, {"amount": 1})
        copy(app, graph)
        app.go_on(graph, thread="copy")
        assert len(set(keys)) == 2

    def test_a_sibling_that_had_finished_is_not_run_again(self, app):
        ran = []

        def quick(state):
            ran.append("quick")
            return {"notes": ["quick"]}

        def ask(state):
            return {"notes": [interrupt("good?")]}

        graph = app.side_by_side(ask, quick)
        app.run(graph, {"amount": 1})
        copy(app, graph)
        app.go_on(graph, thread="copy")
        assert app.answer(graph, "yes", thread="copy")["notes"] == ["yes", "quick"]
        assert ran == ["quick"]

    def test_ids_of_the_origin_s_steps_name_nothing_in_the_copy(self, app, finished):
        copy(app, finished)
        config = {
            "configurable": {"thread_id": "copy", "checkpoint_id": id_of(app.state(finished))}
        }
        with pytest.raises(UnknownStep):
            app.state(finished, thread=config)

    def test_a_name_that_is_taken_is_refused(self, app, finished):
        copy(app, finished)
        with pytest.raises(Conflict, match="'copy' already"):
            copy(app, finished)

    def test_what_is_not_there_cannot_be_copied(self, app, line):
        with pytest.raises(UnknownThread, match="'t'"):
            copy(app, line)

    def test_a_step_that_is_not_there_cannot_be_copied(self, app, finished):
        config = {"configurable": {"thread_id": "t", "checkpoint_id": "f" * 32}}
        with pytest.raises(UnknownStep):
            copy(app, finished, config)

    def test_another_graph_s_thread_is_not_copied(self, app, finished):
        other = app.chain(saying("a"), name="another story")
        with pytest.raises(GraphMismatch):
            copy(app, other)


class TestDeleting:
    def test_nothing_of_it_is_left(self, app, waiting):
        (question,) = app.state(waiting).interrupts
        assert delete(app, waiting) is True
        assert app.history(waiting) == []
        assert app.state(waiting).values == {}
        assert app.store.question(question.id) is None

    def test_what_was_not_there_is_not_deleted(self, app, line):
        assert delete(app, line) is False

    def test_other_threads_stay(self, app, finished):
        app.run(finished, {"amount": 1}, thread="other")
        delete(app, finished)
        assert app.state(finished, thread="other").values["notes"] == ["a", "b", "c"]

    def test_a_thread_of_the_same_name_begins_anew(self, app, finished):
        delete(app, finished)
        assert app.run(finished, {"amount": 2}) == {"amount": 2, "notes": ["a", "b", "c"]}
        assert [entry.metadata["step"] for entry in app.history(finished)] == [3, 2, 1, 0, -1]

    def test_an_answer_does_not_reach_the_successor_s_question(self, app, waiting):
        (question,) = app.state(waiting).interrupts
        delete(app, waiting)
        app.run(waiting, {"amount": 1})
        with pytest.raises(UnknownQuestion, match="ever asked"):
            app.record_answer(waiting, question.id, "yes")
        assert len(app.state(waiting).interrupts) == 1

    def test_effects_of_the_successor_have_keys_of_their_own(self, app):
        keys = []

        def pay(state):
            once(lambda: keys.append(once.key()), key="pay")
            return {}

        graph = app.chain(pay)
        app.run(graph, {"amount": 1})
        delete(app, graph)
        app.run(graph, {"amount": 1})
        assert len(set(keys)) == 2

    def test_a_thread_that_is_being_run_is_left_alone(self, app):
        def meddle(state):
            with pytest.raises(ThreadBusy):
                graph.delete_thread("t")
            return {"notes": ["still here"]}

        graph = app.chain(meddle)
        assert app.run(graph, {"amount": 1})["notes"] == ["still here"]

    def test_a_deleted_thread_has_nothing_to_go_on_with(self, app, waiting):
        delete(app, waiting)
        with pytest.raises(EmptyInputError, match="never started"):
            app.run(waiting, Command(resume="yes"))
