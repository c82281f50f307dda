"""`import caesura`: what it costs and what it offers."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import caesura
from caesura import errors

ROOT = Path(__file__).resolve().parents[2]
FRONT_DOOR = ROOT / "src" / "caesura" / "__init__.py"
HEAVY = ["asyncio", "dataclasses", "inspect", "msgspec", "pydantic", "sqlite3", "threading"]


def _modules_after(statement: str, *flags: str) -> set[str]:
    """What a fresh interpreter loads for a statement, beyond what it starts with."""
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); before = set(sys.modules)\n"
        f"{statement}\nprint(*set(sys.modules) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-I", *flags, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    # -S: not even the packages beside us, whose start-up hooks could hide what we load.
    loaded = _modules_after("import caesura", "-S")
    assert "caesura" in loaded
    assert not loaded & set(HEAVY)
    assert not [name for name in loaded if name.startswith("caesura.")]


def test_the_heavy_parts_of_the_standard_library_wait_until_they_are_used() -> None:
    loaded = _modules_after("from caesura import StateGraph, START, END, interrupt, once, Command")
    assert not loaded & {"asyncio", "sqlite3", "pydantic", "langchain_core"}


@pytest.mark.parametrize("name", caesura.__all__)
def test_every_public_name_imports(name: str) -> None:
    assert getattr(caesura, name) is not None


def test_the_names_that_editors_see_are_those_that_import() -> None:
    assert _names_for_editors() == set(caesura.__all__) - {"__version__"}
    assert len(caesura.__all__) == len(set(caesura.__all__))
    assert set(caesura.__all__) <= set(dir(caesura))


def test_every_error_imports_from_the_package() -> None:
    public = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, BaseException) and name[0] != "_"
    }
    missing = public - set(caesura.__all__)
    assert not missing, "add them to both lists of caesura/__init__.py"


def test_an_unknown_name_is_an_ordinary_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        caesura.Nonsense  # noqa: B018


def test_the_familiar_names_are_our_stores() -> None:
    assert caesura.InMemorySaver is caesura.MemorySaver is caesura.MemoryStore
    assert caesura.SqliteSaver is caesura.SqliteStore


def _names_for_editors() -> set[str]:
    tree = ast.parse(FRONT_DOOR.read_text())
    block = next(
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    names: set[str] = set()
    for node in block.body:
        match node:
            case ast.ImportFrom(names=imported):
                names |= {alias.asname or alias.name for alias in imported}
            case ast.Assign(targets=targets):
                names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names
