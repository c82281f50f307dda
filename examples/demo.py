"""A refund is killed twice, restarted twice, and still nobody pays twice. (`make demo`)

    python examples/demo.py [--yes | --no] [--pace SECONDS]

Nothing here is staged: workers are processes of their own running `refund.py`, they are killed with
SIGKILL, and what happened is counted in a file that only the effects themselves write. All of it
lives in a temporary folder. Without a terminal on its input it answers by itself.
"""

from __future__ import annotations

import argparse
import getpass
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from refund import refund

from caesura import Interrupt, SqliteStore, workflow

HERE = Path(__file__).resolve().parent
THREAD = "order-1042"
PATIENCE_S = 30.0


# ------------------------------------------------------------------------------------- the stage
class Screen:
    """Prints the story, in colour where there is a terminal."""

    def __init__(self, pace_s: float) -> None:
        self.pace_s = pace_s
        self.in_colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def scene(self, title: str) -> None:
        print(f"\n{self.paint('1', title)}")
        self.pause()

    def tell(self, text: str) -> None:
        print(f"  {text}", flush=True)
        self.pause()

    def alarm(self, text: str) -> None:
        self.tell(self.paint("1;31", text))

    def relief(self, text: str) -> None:
        self.tell(self.paint("32", text))

    def paint(self, colour: str, text: str) -> str:
        return f"\033[{colour}m{text}\033[0m" if self.in_colour else text

    def pause(self) -> None:
        sys.stdout.flush()
        time.sleep(self.pace_s)


class World:
    """The folder of this show: the store, and the file that the effects write."""

    def __init__(self, folder: Path) -> None:
        self.database = folder / "refunds.db"
        self.effects_file = folder / "effects.log"

    def effects(self) -> list[str]:
        if not self.effects_file.exists():
            return []
        return self.effects_file.read_text(encoding="utf-8").splitlines()

    def count(self) -> Counter[str]:
        return Counter(line.split(" ", 1)[0] for line in self.effects())

    def question(self) -> Interrupt | None:
        """What the thread asks, read from the file by this process."""
        with SqliteStore(self.database) as store:
            asked = workflow(checkpointer=store)(refund).get_state(THREAD).interrupts
        return asked[0] if asked else None

    def answer(self, question: Interrupt, approved: bool, by: str) -> None:
        with SqliteStore(self.database) as store:
            refunds = workflow(checkpointer=store)(refund)
            refunds.answer(question.id, {"approved": approved}, by=by)


class Worker:
    """A process of its own that runs `refund.py`."""

    def __init__(self, world: World) -> None:
        program, database, effects = HERE / "refund.py", world.database, world.effects_file
        command = [sys.executable, str(program), str(database), str(effects)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)

    @property
    def pid(self) -> int:
        return self.process.pid

    def wait_until(self, reached: Callable[[], bool], what: str) -> None:
        """Watch the world until it is so; a worker that ends before that is a failure."""
        give_up = time.monotonic() + PATIENCE_S
        while not reached():
            if self.process.poll() is not None:
                raise SystemExit(f"The worker ended before {what}.")
            if time.monotonic() > give_up:
                raise SystemExit(f"After {PATIENCE_S:.0f} s still not: {what}.")
            time.sleep(0.05)

    def kill(self) -> int:
        """SIGKILL: no handler runs, nothing is flushed, nothing is said goodbye to."""
        self.process.send_signal(signal.SIGKILL)
        return self.process.wait()

    def finish(self) -> int:
        return self.process.wait(PATIENCE_S)

    def put_away(self) -> None:
        """Leave no process behind when the show breaks off."""
        if self.process.poll() is None:
            self.kill()


# -------------------------------------------------------------------------------------- the show
def show(screen: Screen, world: World, ask: Callable[[Interrupt], bool]) -> bool:
    """Play it; say whether every effect happened as often as it should."""
    workers: list[Worker] = []

    def start(words: str) -> Worker:
        workers.append(Worker(world))
        screen.tell(f"$ python refund.py          # {words}, process {workers[-1].pid}")
        return workers[-1]

    try:
        screen.scene("1. A worker begins: it buys a return label, then asks a slow risk service")
        worker = start("a worker")
        worker.wait_until(lambda: "assess-begun" in world.count(), "it asked the risk service")
        screen.relief(f"label bought: {world.effects()[0]}")
        screen.tell("risk service: thinking ...")
        _kill(screen, worker, "in the middle of its work")

        screen.scene("2. Another worker takes over")
        worker = start("the same command again")
        worker.wait_until(lambda: world.question() is not None, "it asked a person")
        screen.relief(f"label: not bought again, charged {_times(world.count()['charge'])}")
        screen.tell("risk service: had not answered when the worker died, so it was asked again")
        screen.relief("and now it waits for a person")
        _kill(screen, worker, "while it waits")

        screen.scene("3. Nobody runs. The question is in the file, and a person answers it")
        question = world.question()
        if question is None:
            raise SystemExit("The question was lost.")
        approved = ask(question)
        world.answer(question, approved, by=_user())
        screen.relief(f"answer written down: {'yes' if approved else 'no'}, by {_user()}")

        screen.scene("4. One more worker finds the answer and finishes")
        if start("the same command again").finish() != 0:
            raise SystemExit("The last worker failed.")
        screen.relief("done")
        return _settle_up(screen, world, approved)
    finally:
        for worker in workers:
            worker.put_away()


def _kill(screen: Screen, worker: Worker, when: str) -> None:
    code = worker.kill()
    screen.alarm(f"$ kill -9 {worker.pid}                # {when}; it ended with {code}")


def _settle_up(screen: Screen, world: World, approved: bool) -> bool:
    """Three processes worked on this, two died. Count what the world saw."""
    screen.scene("What really happened, as the effects themselves wrote it down")
    for line in world.effects():
        screen.tell(screen.paint("2", line))
    expected = {"charge": 1, "assess-done": 1, "pay-back": int(approved), "mail": 1}
    words = {
        "charge": "label charged",
        "assess-done": "risk assessed",
        "pay-back": "money paid back",
        "mail": "mail sent",
    }
    counted = world.count()
    print()
    for what, times in expected.items():
        right = counted[what] == times
        mark = screen.paint("32", "ok") if right else screen.paint("1;31", f"expected {times}")
        print(f"  {words[what] + ':':18}{_times(counted[what]):9}{mark}")
    begun = counted["assess-begun"]
    print(
        f"\n  The risk service was asked {_times(begun)}: a call was in flight at the first kill."
    )
    print("  That is the one thing that a crash can repeat, and it repeats with the same key.")
    return all(counted[what] == times for what, times in expected.items())


def _times(count: int) -> str:
    return "1 time" if count == 1 else f"{count} times"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "you"


# ------------------------------------------------------------------------------------ the person
def _person(screen: Screen, scripted: bool | None) -> Callable[[Interrupt], bool]:
    """Who answers: the script, or whoever sits at the terminal."""

    def ask(question: Interrupt) -> bool:
        for field, value in question.value.items():
            screen.tell(f"{field + ':':9}{value}")
        prompt = screen.paint("1;33", "  Pay it back? [y/n] ")
        if scripted is not None:
            print(f"{prompt}{'y' if scripted else 'n'}   (answered by the script)", flush=True)
            return scripted
        while True:
            typed = input(prompt).strip().lower()
            if typed in ("y", "yes", "n", "no"):
                return typed.startswith("y")
            screen.tell("Please type y or n.")

    return ask


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--yes", action="store_true", help="approve without asking")
    choice.add_argument("--no", action="store_true", help="refuse without asking")
    parser.add_argument("--pace", type=float, help="seconds between lines (0 when piped)")
    asked = parser.parse_args()
    unattended = not sys.stdin.isatty()
    scripted = False if asked.no else True if asked.yes or unattended else None
    pace_s = asked.pace if asked.pace is not None else 0.6 if sys.stdout.isatty() else 0.0

    screen = Screen(pace_s)
    with tempfile.TemporaryDirectory(prefix="caesura-demo-") as folder:
        print(f"A refund of 89.90, on one SQLite file in {folder}")
        as_promised = show(screen, World(Path(folder)), _person(screen, scripted))
    print()
    if as_promised:
        print(screen.paint("1;32", "Killed twice, restarted twice, nothing done twice."))
        return 0
    print(screen.paint("1;31", "The counts are wrong. Please report this."))
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (KeyboardInterrupt, EOFError):
        sys.exit("\nStopped. The temporary folder and all processes are gone.")
