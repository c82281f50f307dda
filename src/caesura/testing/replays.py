"""Run today's code on a recorded log, and say where it would have gone another way.

Promises: nothing is performed and nothing is written. Each recorded task runs on the state and with
the journal that it had: recorded effects and answers are given back, and what was not recorded is a
difference. The first one is raised, with its step and node, what was recorded and what is so today.
Used by tests, before a new version of a graph meets threads that an older one began.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from caesura.core.control import START
from caesura.core.decide import Ended, plan_next
from caesura.core.events import Asked, Done, Event, Started, Stepped, Updated
from caesura.core.history import Fold
from caesura.core.journals import journal_key
from caesura.core.parts import Handling
from caesura.core.plan import Plan
from caesura.core.view import RunView, TaskView, ThreadView
from caesura.engine.calls import Call, Work
from caesura.engine.endings import Ending
from caesura.engine.families import Family
from caesura.engine.fingerprint import show
from caesura.engine.ledger import Ledger
from caesura.engine.past import Past
from caesura.engine.performer import IN_PLACE, drive, in_thread
from caesura.engine.tasks import run_task

if TYPE_CHECKING:
    from caesura.engine.compiled import CompiledGraph
    from caesura.engine.scopes import Scope

_MARK = "f" * 24  # how an id begins that today's code was given


def assert_replays(graph: CompiledGraph, thread: str, *, context: Any = None) -> int:
    """Fail with the first step at which today's graph does not do what the thread's log says.

    Compared are: what each finished node and conditional edge returned (writes and targets), which
    effects it asked for and with which arguments, which questions it asked, and which tasks each
    step led to. Child graphs, `Send`s and error handlers are replayed as every other task. The
    number of passes that were replayed comes back, so that a test can see that there were some.

    Not compared are: what failed, since that is what gets mended; steps that `durability="exit"`
    left out of the log; where an input leads in a child graph; updates from outside; graphs that
    keep nothing (`checkpointer=False`), and those that a function builds by itself; identifiers
    that are made anew for messages; values that are never written (`UntrackedValue`). What a node
    does without `once` happens again.
    """
    return _Replay(graph, thread, context).run()


async def aassert_replays(graph: CompiledGraph, thread: str, *, context: Any = None) -> int:
    """`assert_replays` off the running event loop; async nodes run on a loop of their own."""
    count: int = await in_thread(lambda: assert_replays(graph, thread, context=context))
    return count


class _Differs(BaseException):
    """Today's code begins something that is not in the log. No node may eat it."""


class _Rehearsal(Ledger):
    """A ledger on which nothing is written, and nothing that is not recorded may begin."""

    fold: Fold

    def rehearse(self) -> None:
        self.staged: list[Event] = []
        self.difference: str | None = None

    def stage(self, *events: Event, prepared: dict[str, Any] | None = None) -> None:
        self.staged += events

    def begins(self, what: str, name: str, shown: str = "") -> None:
        self.difference = self.difference or f"{what} {name}{shown}, which is not in the log"
        raise _Differs(self.difference)

    def commit(self, *, durable: bool = True, release: bool = False) -> None:
        return

    async def commit_on_loop(self, *, durable: bool = True, release: bool = False) -> None:
        return


class _Ids:
    """Identifiers that can be told from recorded ones and are as long."""

    def __init__(self) -> None:
        self._count = 0

    def new(self) -> str:
        self._count += 1
        return f"{_MARK}{self._count:08x}"

    def chance(self) -> float:
        return 0.5


class _Clock:
    """Time stands still, and nobody sleeps."""

    def __init__(self, view: ThreadView) -> None:
        self._view = view

    def now(self) -> int:
        return self._view.at

    def sleep(self, seconds: float) -> None:
        return

    async def sleep_async(self, seconds: float) -> None:
        return


class _Replay:
    def __init__(self, graph: CompiledGraph, thread: str, context: Any) -> None:
        store = graph.need_store("Replaying")
        self._graph, self._thread, self._context = graph, thread, context
        self._family = Family(graph.plan)
        self._codec = graph.codec
        self._ledger = _Rehearsal(store, graph.codec, store.clock, thread, self._family)
        self._changed: set[tuple[int, int]] = set()  # steps whose state was changed from outside
        self._scopes: list[Scope] = []
        self._count = 0

    def run(self) -> int:
        head = self._graph.ledger_for(self._thread)
        head.load()
        head.require()
        snapshot, records = Past(self._graph, head).from_the_beginning()
        view = ThreadView() if snapshot is None else self._codec.decode_view(snapshot.body)
        fold = Fold(view, self._family.spec)
        self._ledger.follow(fold)
        for record in records:
            if snapshot is not None and record.seq <= snapshot.seq:
                continue
            at, events = self._codec.decode(record.body)
            for place, event in enumerate(events):
                self._look(event, events[place:])
                fold.apply(at, (event,))
                at = fold.view.at
                if type(event) is Updated:
                    self._changed.add((event.run, fold.view.runs[event.run].step))
        return self._count

    # ------------------------------------------------------------------------------ event by event
    def _look(self, event: Event, following: Sequence[Event]) -> None:
        match event:
            case Done(handled=None):
                run = _run_at(self._ledger.view, event.step)
                if run is not None and (plan := self._plan(run)) is not None:
                    self._check_done(plan, run, event)
            case Stepped():
                run = self._ledger.view.runs[event.run]
                if (plan := self._plan(run)) is not None:
                    self._check_step(plan, run, event)
            case Asked():
                self._check_asked(event, following)
            case Started(next=list()):
                plan = self._graph.plan if event.run == 0 else None
                if plan is not None:
                    first = plan_next(plan, {}, (), (Ended(START, ()),)).next
                    run = self._ledger.view.runs.get(event.run)
                    self._compare_next(run, START, event.next or [], first)
            case _:
                return

    def _check_done(self, plan: Plan, run: RunView, event: Done) -> None:
        task = run.tasks[event.index]
        only_edges = task.writes is not None
        ending = self._replayed(plan, run, event.index)
        if ending is None:
            return
        if not only_edges:
            self._compare_writes(plan, run, event.index, event.writes, ending)
        recorded = event.commanded if event.goto is None else event.goto
        today = ending.commanded if event.goto is None else ending.goto
        if event.goto is not None and ending.goto is None:
            self._differ(run, event.index, f"leads to {_names(event.goto)}", _told(ending))
        if not self._same(list(recorded or ()), list(today or ())):
            self._differ(
                run, event.index, f"leads to {_names(recorded)}", f"leads to {_names(today)}"
            )

    def _check_step(self, plan: Plan, run: RunView, event: Stepped) -> None:
        ended = []
        if event.writes is not None:
            ending = self._replayed(plan, run, 0)
            if ending is None:
                return
            self._compare_writes(plan, run, 0, event.writes, ending)
            if ending.goto is None:
                self._differ(run, 0, "its edges told where to go on", _told(ending))
            ended = [Ended(run.tasks[0].node, ending.goto or ())]
        else:
            for task in run.tasks:
                ended.append(Ended(task.node, task.goto or (), _handling(plan, task)))
        planning = plan_next(plan, run.joins, run.deferred, ended)
        self._compare_next(run, ", ".join(t.node for t in run.tasks), event.next, planning.next)
        waiting = (event.joins or {}, event.deferred or [])
        if waiting != (planning.joins or {}, planning.deferred or []):
            self._fail(
                run,
                ", ".join(task.node for task in run.tasks),
                f"waits to be complete: {waiting}",
                f"waits to be complete: {(planning.joins or {}, planning.deferred or [])}",
            )

    def _check_asked(self, event: Asked, following: Sequence[Event]) -> None:
        found = _task_at(self._ledger.view, event.step, event.index)
        if found is None:
            return
        run, index = found
        plan, view = self._plan(run), self._ledger.view
        journal = view.journals.get(f"{event.step}.{event.index}")
        children = list(journal.children.values()) if journal is not None else []
        if plan is None or any(c in view.runs and not view.runs[c].finished for c in children):
            return
        known = {asking.question.id for asking in journal.questions} if journal else set()
        place = (event.step, event.index)
        recorded = [
            e.question for e in following if type(e) is Asked and (e.step, e.index) == place
        ]
        if known & set(self._asked_together):
            return  # with the first of them all that were asked together were compared
        ending = self._replayed(plan, run, index, waits=True)
        self._asked_together = [question.id for question in recorded]
        if ending is None:
            return
        asked = [e.question for e in self._ledger.staged if type(e) is Asked]
        if sorted(map(_about, recorded)) != sorted(map(_about, asked)):
            told = ", ".join(map(_shown, asked)) or _told(ending)
            self._differ(run, index, f"asks {', '.join(map(_shown, recorded))}", f"asks {told}")

    _asked_together: Sequence[str] = ()

    # ------------------------------------------------------------------------------ one task again
    def _replayed(
        self, plan: Plan, run: RunView, index: int, *, waits: bool = False
    ) -> Ending | None:
        """What today's code makes of a task; None: it cannot be known."""
        task, view = run.tasks[index], self._ledger.view
        node = plan.nodes.get(task.node)
        if node is None and task.writes is None:
            self._differ(run, index, "was run", "is no node of the graph any more")
        if node is not None and node.is_graph and node.action.keeps_nothing:
            return None
        before = self._codec.encode_view(view)
        self._ledger.rehearse()
        self._scopes.clear()
        try:
            ending = drive(run_task(self._work(plan, run), index))
        except _Differs:
            ending = Ending()
        except BaseException as error:
            if self._ledger.difference is None:
                raise
            ending = Ending(error=error if isinstance(error, Exception) else None)
        self._count += 1
        if self._ledger.difference is not None:
            self._differ(run, index, "does not", self._ledger.difference)
        if ending.error is not None and ending.writes is None:
            self._differ(run, index, "asked" if waits else "finished", _told(ending))
        if self._codec.encode_view(view) != before:
            self._differ(
                run,
                index,
                "the state as it was",
                "changes its state in place; return what is new instead",
            )
        if not waits and (run.id, run.step) not in self._changed:
            for scope in self._scopes:
                for record in scope.unclaimed():
                    self._differ(run, index, f"performs {record.name}{record.shown}", "does not")
        return ending

    def _work(self, plan: Plan, run: RunView) -> Work:
        call = Call(self._graph, self._ledger, settings=self._graph.settings, context=self._context)
        call.ids, call.clock = _Ids(), _Clock(self._ledger.view)
        call.configurable = {**call.configurable, "thread_id": self._thread}
        call.watch = self._scopes.append
        space = "" if run.id == 0 else run.space
        return Work(call, plan, run.id, IN_PLACE, space=space)

    def _plan(self, run: RunView | None) -> Plan | None:
        return None if run is None else self._family.plan(self._ledger.view, run)

    # ------------------------------------------------------------------------------------ comparing
    def _compare_writes(
        self, plan: Plan, run: RunView, index: int, recorded: list[dict[str, Any]], ending: Ending
    ) -> None:
        untracked = plan.state.untracked
        if ending.writes is None:
            self._differ(run, index, f"writes {_brief(recorded)}", _told(ending))
        today = [
            {k: v for k, v in write.items() if k not in untracked} for write in ending.writes or ()
        ]
        if not self._same(recorded, today):
            self._differ(run, index, f"writes {_brief(recorded)}", f"writes {_brief(today)}")

    def _compare_next(
        self, run: RunView | None, nodes: str, recorded: Sequence[Any], today: Sequence[Any]
    ) -> None:
        if not self._same([_bare(t) for t in recorded], [_bare(t) for t in today]):
            self._fail(run, nodes, f"is followed by {_names(recorded)}", _names(today))

    def _same(self, recorded: Any, today: Any) -> bool:
        """Whether they are written the same, apart from identifiers that are made anew."""
        one, two = (self._codec.encode_value(_plain(value)) for value in (recorded, today))
        if one == two:
            return True
        mark, place = _MARK.encode(), -1
        if len(one) != len(two):
            return False
        while (place := two.find(mark, place + 1)) >= 0:
            two = two[:place] + one[place : place + 32] + two[place + 32 :]
        return one == two

    def _differ(self, run: RunView, index: int, recorded: str, today: str) -> None:
        self._fail(run, run.tasks[index].node, recorded, today)

    def _fail(self, run: RunView | None, node: str, recorded: str, today: str) -> None:
        step, graph = (run.count, run.graph) if run is not None else (-1, self._graph.name)
        raise AssertionError(
            f"Thread {self._thread!r} does not replay at step {step} of graph {graph!r}, "
            f"node {node!r}.\n  recorded:     {recorded}\n  today's code: {today}"
        )


def _run_at(view: ThreadView, step: int) -> RunView | None:
    return next((run for run in view.runs.values() if run.step == step), None)


def _task_at(view: ThreadView, step: int, index: int) -> tuple[RunView, int] | None:
    """The task whose journal began there."""
    for run in view.runs.values():
        for place, task in enumerate(run.tasks):
            if journal_key(run, place, task) == f"{step}.{index}":
                return run, place
    return None


def _handling(plan: Plan, task: TaskView) -> Handling | None:
    node = plan.nodes.get(task.node)
    if task.handled is None or node is None or node.error_handler is None:
        return None
    return Handling(node.error_handler, task.node, task.handled)


def _about(question: Any) -> tuple[str, int, str]:
    return (
        question.key or "",
        question.use,
        "" if question.volatile else question.fingerprint,
    )


def _shown(question: Any) -> str:
    key = f" (key {question.key!r})" if question.key is not None else ""
    return f"{show((question.payload,), {})}{key}"


def _told(ending: Ending) -> str:
    if ending.error is not None:
        return f"raises {ending.error!r}"
    if ending.handled is not None:
        return f"fails and is handled: {ending.handled.message}"
    if ending.leaves is not None:
        return "leaves its graph with a command to the parent"
    return "waits for an answer" if ending.writes is None else "finishes"


def _brief(value: Any) -> str:
    return show((value,), {})[1:-1]


def _bare(target: Any) -> Any:
    """A planned task without the failure that it handles: its traceback is never the same."""
    if isinstance(target, Handling):
        return ["handler", target.node, target.failed]
    return target


def _plain(value: Any) -> Any:
    """Planned tasks as lists, so that they can be encoded as values."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    fields = getattr(value, "__struct_fields__", None)
    if fields is not None and hasattr(value, "VALUES"):
        return [_plain(getattr(value, name)) for name in fields]
    return value


def _names(targets: Sequence[Any] | None) -> str:
    return ", ".join(_iterate(targets or ())) or "nothing"


def _iterate(targets: Sequence[Any]) -> Iterator[str]:
    for target in targets:
        if isinstance(target, str):
            yield target
        elif hasattr(target, "arg"):
            yield f"Send({target.node!r}, {_brief(target.arg)})"
        else:
            yield str(target.node)
