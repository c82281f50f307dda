"""What must not be in the repository: addresses of package indexes, machine paths, secrets."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))

# Written in pieces, so that this file does not find itself.
_HOSTS = [
    "pypi" + r"\.org",
    "python" + r"hosted\.org",
    "registry" + r"\.npmjs",
    "registry" + r"\.yarnpkg",
    "deb" + r"\.debian\.org",
    "index" + r"\.crates\.io",
    "--(extra-)?" + "index-url[ =]",
    "--find" + "-links[ =]",
]
_PATHS = [
    "/ro" + r"ot/\w",
    "/ho" + r"me/\w+/",
    "/Us" + r"ers/\w+/",
    r"C:\\+Us" + "ers",
    r"\.pyenv/" + r"versions/\d",
]
_SECRETS = [
    "BEGIN " + r"[A-Z ]*PRIVATE KEY",
    "AK" + r"IA[0-9A-Z]{16}",
    "gh" + r"[pousr]_\w{30}",
    "xox" + r"[abp]-\w{10}",
    "sk" + r"-[A-Za-z0-9]{32}",
]


@pytest.fixture(scope="module")
def committed() -> dict[str, str]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode != 0:
        pytest.skip("not a git checkout")
    texts = {}
    for name in filter(None, listing.stdout.split("\0")):
        path = ROOT / name
        if path.is_file():
            texts[name] = path.read_bytes().decode("utf-8", "replace")
    return texts


@pytest.mark.parametrize("patterns", [_HOSTS, _PATHS, _SECRETS], ids=["hosts", "paths", "secrets"])
def test_nothing_committed_names_a_machine_an_index_or_a_secret(
    committed: dict[str, str], patterns: list[str]
) -> None:
    unwanted = re.compile("|".join(patterns))
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in committed.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if unwanted.search(line)
    ]
    assert not found


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_pins_every_package_by_hash_and_names_no_address(lock: Path) -> None:
    text = lock.read_text()
    entries = re.split(r"\n(?=[A-Za-z0-9])", re.sub(r"(?m)^\s*#.*\n", "", text).strip())
    assert entries
    assert not [entry for entry in entries if not re.match(r"[A-Za-z0-9._-]+==", entry)]
    assert not [entry for entry in entries if "--hash=sha256:" not in entry]
    assert "://" not in text
    assert not re.search(r"(?m)^\s*-[a-z-]", re.sub(r"--hash=\S+", "", text))


def test_the_locks_of_one_environment_agree() -> None:
    pins: dict[tuple[str, str], set[str]] = {}
    for lock in LOCKS:
        for name, version, marker in re.findall(
            r"(?m)^([A-Za-z0-9._-]+)==(\S+)(?: ; ([^\\\n]*))?", lock.read_text()
        ):
            pins.setdefault((name, marker.strip()), set()).add(version)
    assert not {name: versions for name, versions in pins.items() if len(versions) > 1}
