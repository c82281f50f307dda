"""Run the unit tests on every other Python of this machine, then the whole suite on the main one.

Promises: the main suite comes last, so its summary is the last thing printed; a failure anywhere
fails the call. `--unit` in front runs only the unit tests of the main Python; what follows goes to
pytest.
Called by `make test` and `make check`.
"""

from __future__ import annotations

import subprocess
import sys

from environments import ROOT, Environment, environments, prepare
from find_uv import say

UNIT = ["-m", "not slow and not process and not differential"]


def main(arguments: list[str]) -> int:
    main_one, *others = environments()
    if arguments[:1] == ["--unit"]:
        return _pytest(main_one, [*UNIT, *arguments[1:]])
    failed = [one.version for one in others if _pytest(one, [*UNIT, "-q", *arguments]) != 0]
    outcome = _pytest(main_one, arguments)
    for version in failed:
        print(f"The unit tests failed on Python {version}, see above.", file=sys.stderr)
    return 1 if failed else outcome


def _pytest(environment: Environment, arguments: list[str]) -> int:
    prepare(environment)
    suite = "the unit tests" if UNIT[1] in arguments else "the whole suite"
    say(f"Python {environment.version}: {suite}")
    command = [str(environment.python), "-m", "pytest", "-n", "2", *arguments]
    return subprocess.run(command, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
