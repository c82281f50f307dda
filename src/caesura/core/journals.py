"""Where the journals of tasks are kept in a view, and how they are found and forgotten.

Promises: a journal stands under the place where its task began, so it stays the same when an update
carries the task over to another step.
Used by everything that looks into a view.
"""

from __future__ import annotations

from caesura.core import events as ev
from caesura.core.view import Asking, JournalView, Recording, RunView, TaskView, ThreadView


def journal_key(run: RunView, index: int, task: TaskView) -> str:
    """Under which key a task's journal is kept: where the task began."""
    if task.origin is not None:
        return f"{task.origin[0]}.{task.origin[1]}"
    return f"{run.step}.{index}"


def task_of(view: ThreadView, run: RunView) -> tuple[RunView, int] | None:
    """The task that called a child run: its run, and its place there."""
    if run.parent is None:
        return None
    key = f"{run.parent[0]}.{run.parent[1]}"
    for parent in view.runs.values():
        for index, task in enumerate(parent.tasks):
            if journal_key(parent, index, task) == key:
                return parent, index
    return None


def callers(view: ThreadView, run: RunView) -> list[tuple[RunView, int]]:
    """The tasks around a run, from the thread's own graph inwards."""
    found = task_of(view, run)
    return [] if found is None else [*callers(view, found[0]), found]


def find_question(view: ThreadView, question: str) -> Asking | None:
    """A question of the tasks at hand, whatever became of it."""
    journal = view.journals.get(view.questions.get(question, ""))
    for asking in journal.questions if journal else ():
        if asking.question.id == question:
            return asking
    return None


def forget_journal(view: ThreadView, key: str) -> None:
    """Drop a task's journal with the child runs below it: nothing will ever ask for it again."""
    journal = view.journals.pop(key, None)
    if journal is None:
        return
    for asking in journal.questions:
        view.questions.pop(asking.question.id, None)
    for child in journal.children.values():
        run = view.runs.pop(child, None)
        for index, task in enumerate(run.tasks if run else ()):
            forget_journal(view, journal_key(run, index, task))  # type: ignore[arg-type]


class JournalFold:
    """The part of a fold that is about what tasks performed and asked."""

    __slots__ = ()

    view: ThreadView

    def _journal(self, step: int, index: int) -> JournalView:
        key = f"{step}.{index}"
        journal = self.view.journals.get(key)
        if journal is None:
            journal = self.view.journals[key] = JournalView()
        return journal

    def recorded(self, event: ev.Recorded) -> None:
        self._journal(event.step, event.index).recordings.append(
            Recording(
                name=event.name,
                fingerprint=event.fingerprint,
                use=event.use,
                value=event.value,
                shown=event.shown,
                aside=event.aside,
                error=event.error,
                lost=event.lost,
                router=event.router,
                awaited=event.awaited,
            )
        )

    def settled(self, event: ev.Settled) -> None:
        journal = self._journal(event.step, event.index)
        for i, recording in enumerate(journal.recordings):
            if recording.name == event.name and recording.lost is not None:
                if event.repeat:
                    del journal.recordings[i]
                else:
                    recording.lost, recording.value = None, event.value
                return

    def asked(self, event: ev.Asked) -> None:
        journal, question = self._journal(event.step, event.index), event.question
        for asking in journal.questions:
            if asking.question.id == event.replaces and (
                asking.status == "open" or question.key is not None
            ):
                asking.status = "superseded"
        journal.questions.append(Asking(question=question, at=self.view.at))
        self.view.questions[question.id] = f"{event.step}.{event.index}"

    def _close(self, question: str, status: str) -> Asking | None:
        asking = find_question(self.view, question)
        if asking is None or asking.status != "open":
            return None
        asking.status, asking.at = status, self.view.at
        return asking

    def answered(self, event: ev.Answered) -> None:
        asking = self._close(event.question, "answered")
        if asking is not None:
            asking.answer, asking.by = event.value, event.by

    def withdrawn(self, event: ev.Withdrawn) -> None:
        self._close(event.question, "withdrawn")

    def expired(self, event: ev.Expired) -> None:
        self._close(event.question, "expired")
