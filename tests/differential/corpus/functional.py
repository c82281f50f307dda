"""The functional form: entrypoint, task, previous, final."""

from typing import Any

from ..registry import async_case, case, sync_case


def compiled(api: Any, function: Any, **options: Any) -> Any:
    return api.talk(api.entrypoint(checkpointer=api.checkpointer(), **options)(function))


@case
def an_entrypoint_returns_its_value(api):
    def flow(n: int) -> int:
        return n + 1

    talk = compiled(api, flow)
    talk.invoke(1)
    talk.state()


@case
def an_entrypoint_without_a_checkpointer(api):
    @api.entrypoint()
    def flow(n: int) -> int:
        return n * 2

    api.talk(flow, None).invoke(4)


@case
def an_entrypoint_that_returns_a_dict(api):
    talk = compiled(api, _as_dict)
    talk.invoke({"x": 1})
    talk.state()


def _as_dict(given: dict) -> dict:
    return {"got": given}


@sync_case
def tasks_and_their_results(api):
    @api.task
    def double(n: int) -> int:
        return n * 2

    def flow(n: int) -> int:
        futures = [double(i) for i in range(n)]
        return sum(future.result() for future in futures)

    talk = compiled(api, flow)
    talk.invoke(4)


@sync_case
def updates_of_tasks_and_entrypoint(api):
    @api.task
    def double(n: int) -> int:
        return n * 2

    def flow(n: int) -> int:
        return double(n).result() + double(n + 1).result()

    compiled(api, flow).stream(1, "updates")


@sync_case
def values_of_an_entrypoint(api):
    def flow(n: int) -> int:
        return n + 1

    compiled(api, flow).stream(1, "values")


@sync_case
def a_task_is_not_repeated_after_a_pause(api):
    calls = []

    @api.task
    def charge(n: int) -> str:
        calls.append(n)
        return f"charged {n}"

    def flow(n: int) -> list:
        receipt = charge(n).result()
        return [receipt, api.interrupt("fine?")]

    talk = compiled(api, flow)
    talk.invoke(5)
    talk.invoke(api.Command(resume="yes"))
    api.note("calls", calls)


@sync_case
def two_pauses_and_tasks_between(api):
    calls = []

    @api.task
    def work(name: str) -> str:
        calls.append(name)
        return name.upper()

    def flow(name: str) -> list:
        one = work("a").result()
        first = api.interrupt("first?")
        two = work("b").result()
        second = api.interrupt("second?")
        return [one, first, two, second, work("c").result()]

    talk = compiled(api, flow)
    talk.invoke("x")
    talk.state()
    talk.invoke(api.Command(resume=1))
    talk.invoke(api.Command(resume=2))
    api.note("calls", calls)


@case
def previous_is_what_was_returned_before(api):
    def flow(n: int, *, previous: Any = None) -> int:
        return (previous or 0) + n

    talk = compiled(api, flow)
    talk.invoke(1)
    talk.invoke(2)
    talk.invoke(3)
    talk.state()


@case
def final_returns_one_thing_and_saves_another(api):
    def flow(n: int, *, previous: Any = None):
        return api.entrypoint.final(value=previous, save=n * 10)

    talk = compiled(api, flow)
    talk.invoke(1)
    talk.invoke(2)
    talk.state()


@case
def update_state_sets_what_is_previous(api):
    def flow(n: int, *, previous: Any = None) -> int:
        return (previous or 0) + n

    talk = compiled(api, flow)
    talk.invoke(1)
    talk.update(100)
    talk.invoke(2)


@sync_case
def an_entrypoint_pauses(api):
    def flow(n: int) -> str:
        return f"{n}: {api.interrupt({'n': n})}"

    talk = compiled(api, flow)
    talk.invoke(3)
    talk.state()
    talk.stream(api.Command(resume="go"), "updates")
    talk.history()


@sync_case
def an_entrypoint_fails_and_is_run_again(api):
    tries, calls = [], []

    @api.task
    def work() -> str:
        calls.append(1)
        return "worked"

    def flow(n: int) -> str:
        done = work().result()
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("once")
        return done

    talk = compiled(api, flow)
    talk.invoke(1)
    talk.state()
    talk.invoke(None)
    api.note("calls", len(calls))


@sync_case
def a_task_fails(api):
    @api.task
    def broken(n: int) -> int:
        raise ValueError(f"task {n}")

    def flow(n: int) -> Any:
        try:
            return broken(n).result()
        except ValueError as error:
            return f"caught {error}"

    compiled(api, flow).invoke(1)


@sync_case
def a_task_is_retried(api):
    calls = []

    @api.task(retry_policy=api.RetryPolicy(initial_interval=0.0, jitter=False))
    def flaky() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise ConnectionError
        return "worked"

    compiled(api, _returns(flaky)).invoke(1)
    api.note("calls", len(calls))


def _returns(task: Any) -> Any:
    def flow(n: int) -> Any:
        return task().result()

    return flow


@sync_case
def a_task_outside_of_an_entrypoint(api):
    @api.task
    def work() -> int:
        return 1

    api.attempt("call", lambda: work().result())


@sync_case
def a_task_in_a_node(api):
    from .states import Log

    @api.task
    def work(word: str) -> str:
        return word * 2

    def node(state: Log):
        return {"log": [work("x").result()]}

    talk = api.talk(
        api.StateGraph(Log)
        .add_node("a", node)
        .add_edge(api.START, "a")
        .compile(checkpointer=api.checkpointer())
    )
    talk.invoke({"log": []})
    talk.stream({"log": []}, "updates")


@async_case
def an_async_entrypoint_with_tasks(api):
    import asyncio

    @api.task
    async def double(n: int) -> int:
        return n * 2

    async def flow(n: int) -> list:
        return list(await asyncio.gather(*(double(i) for i in range(n))))

    compiled(api, flow).invoke(3)


@async_case
def an_async_task_is_not_repeated_after_a_pause(api):
    calls = []

    @api.task
    async def charge(n: int) -> str:
        calls.append(n)
        return f"charged {n}"

    async def flow(n: int) -> list:
        receipt = await charge(n)
        return [receipt, api.interrupt("fine?")]

    talk = compiled(api, flow)
    talk.invoke(5)
    talk.invoke(api.Command(resume="yes"))
    api.note("calls", calls)


@async_case
def parallel_async_tasks_and_two_answers(api):
    @api.task
    async def review(name: str) -> str:
        return f"{name}: {api.interrupt(name)}"

    async def flow(n: int) -> list:
        return [await review("a"), await review("b")]

    talk = compiled(api, flow)
    talk.invoke(1)
    talk.invoke(api.Command(resume="A"))
    talk.invoke(api.Command(resume="B"))


@case
def an_entrypoint_called_in_a_node(api):
    from .states import Log

    @api.entrypoint()
    def inner(n: int) -> int:
        return n + 1

    builder = api.StateGraph(Log).add_node("a", lambda s: {"log": [str(inner.invoke(1))]})
    api.talk(builder.add_edge(api.START, "a").compile(), None).invoke({"log": []})
