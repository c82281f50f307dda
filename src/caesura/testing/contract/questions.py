"""Questions are listed oldest first, found by status and deadline, and belong to one thread."""

from __future__ import annotations

import pytest

from caesura.ports import Append, QuestionStatus, Store
from caesura.testing.contract.words import Part, begin, names, question


class QuestionsContract(Part):
    def test_a_question_is_found_by_its_id(self, store: Store) -> None:
        asked = question("q", at=5, due=9, columns={"assignee": "ana", "tries": 2, "tags": ["a"]})
        begin(store, questions=[asked])
        found = store.question("q")
        assert found is not None
        assert (found.thread, found.row) == ("t", asked)
        assert store.question("p") is None

    def test_a_question_that_changes_keeps_its_id(self, store: Store) -> None:
        epoch = begin(store, questions=[question("q", due=9, columns={"by": None})])
        closed = question("q", status="answered", body=b"yes", columns={"by": "ana"})
        store.append(Append("t", 1, 1, b"answered", epoch=epoch, questions=[closed]))
        found = store.question("q")
        assert found is not None
        assert found.row == closed
        assert names(store.questions()) == ["q"]

    def test_what_a_list_showed_can_be_changed_without_changing_the_store(
        self, store: Store
    ) -> None:
        columns = {"tags": ["a"]}
        begin(store, questions=[question("q", columns=columns)])
        columns["tags"].append("b")
        found = store.question("q")
        assert found is not None
        found.row.columns["tags"].append("c")
        again = store.question("q")
        assert again is not None
        assert again.row.columns == {"tags": ["a"]}

    def test_questions_are_listed_oldest_first_and_then_by_id(self, store: Store) -> None:
        begin(store, "a", questions=[question("z", at=1), question("c", at=3)])
        begin(store, "b", questions=[question("b", at=3), question("a", at=2)])
        assert names(store.questions()) == ["z", "a", "b", "c"]

    def test_pages_follow_one_another_without_gaps(self, store: Store) -> None:
        asked = [question(f"q{n:02}", at=n // 4) for n in range(25)]
        begin(store, questions=asked)
        seen: list[str] = []
        after = None
        while page := store.questions(after=after, limit=7):
            assert len(page) <= 7
            seen += names(page)
            after = (page[-1].row.asked_at, page[-1].row.id)
        assert seen == [row.id for row in asked]

    def test_a_hundred_are_listed_unless_told(self, store: Store) -> None:
        begin(store, questions=[question(f"q{n:03}") for n in range(120)])
        assert len(store.questions()) == 100
        assert len(store.questions(limit=500)) == 120

    def test_questions_are_listed_by_thread(self, store: Store) -> None:
        begin(store, "a", questions=[question("q")])
        begin(store, "b", questions=[question("p")])
        assert names(store.questions(thread="a")) == ["q"]
        assert [found.thread for found in store.questions(thread="b")] == ["b"]
        assert store.questions(thread="nobody") == []

    def test_questions_are_listed_by_status(self, store: Store) -> None:
        statuses: list[QuestionStatus] = [
            "open",
            "answered",
            "withdrawn",
            "superseded",
            "expired",
        ]
        begin(store, questions=[question(status, status=status) for status in statuses])
        for status in statuses:
            assert names(store.questions(status=status)) == [status]
        assert len(store.questions()) == 5

    def test_questions_are_listed_by_deadline(self, store: Store) -> None:
        dues = {"early": 10, "late": 20, "never": None}
        begin(store, questions=[question(name, due=due) for name, due in dues.items()])
        assert names(store.questions(due_before=9)) == []
        assert names(store.questions(due_before=10)) == ["early"]
        assert names(store.questions(due_before=99)) == ["early", "late"]

    def test_all_conditions_hold_together(self, store: Store) -> None:
        begin(
            store,
            "a",
            questions=[
                question("q1", at=1, due=5),
                question("q2", at=2, due=5),
                question("q3", at=3, due=5, status="answered"),
                question("q4", at=4, due=50),
            ],
        )
        begin(store, "b", questions=[question("q5", at=2, due=5)])
        found = store.questions(thread="a", status="open", due_before=5, after=(1, "q1"))
        assert names(found) == ["q2"]

    def test_a_question_is_asked_on_one_thread_only(self, store: Store) -> None:
        begin(store, "a", questions=[question("q")])
        with pytest.raises(ValueError, match="belongs to thread 'a'"):
            begin(store, "b", questions=[question("q", status="answered")])
        assert store.load("b") is None
        found = store.question("q")
        assert found is not None
        assert (found.thread, found.row.status) == ("a", "open")

    def test_the_next_deadline_is_that_of_an_open_question(self, store: Store) -> None:
        assert store.next_due() is None
        epoch = begin(store, "a", questions=[question("q", due=30), question("p")])
        begin(store, "b", questions=[question("r", due=20), question("s", due=5, status="expired")])
        assert store.next_due() == 20
        store.append(Append("b", 1, 1, b"x", questions=[question("r", due=20, status="answered")]))
        assert store.next_due() == 30
        closed = question("q", due=30, status="withdrawn")
        store.append(Append("a", 1, 1, b"x", epoch=epoch, questions=[closed]))
        assert store.next_due() is None
