"""Names of the form package.module:Class."""

from __future__ import annotations

from pathlib import Path

import pytest

from pfmhr.errors import InputError
from pfmhr.extension import is_own, resolve


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of a user with a class, a class inside it, a function, a number and a private function."""
    name = f"own_{abs(hash(tmp_path))}"
    text = "class Thing:\n    class Part: pass\ndef make(): return 3\ndef _hidden(): pass\nnumber = 4\n"
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_class_a_class_inside_it_and_a_function_are_found(module: str) -> None:
    assert resolve(f"{module}:Thing", "modulator").__name__ == "Thing"
    assert resolve(f"{module}:Thing.Part", "modulator").__name__ == "Part"
    assert resolve(f"{module}:make", "modulator")() == 3


def test_only_module_colon_name_is_of_the_users_own() -> None:
    assert is_own("package.module:Class") and is_own("module:Class.make")
    for name in ("pfm", "", ":", "module:", ":Class", "a.b.C", "a b:C", "a:b:c", "../a:C", "a.:C"):
        assert not is_own(name), name


def test_an_error_lists_what_is_available(module: str) -> None:
    with pytest.raises(InputError, match=r"Did you mean 'recon'.*pfm, recon, or your own as package\.module:Class"):
        resolve("recom", "modulator", ("pfm", "recon"))
    with pytest.raises(InputError, match=f"modulator {module}:Thin: .*Did you mean 'Thing'.*Available: Thing, make"):
        resolve(f"{module}:Thin", "modulator")


def test_a_module_that_is_not_there_is_told_from_one_that_fails(tmp_path: Path, module: str) -> None:
    with pytest.raises(InputError, match=r"there is no module 'no_such_package'.*PYTHONPATH") as error:
        resolve("no_such_package.module:Class", "reward")
    assert error.value.code == "unknown_name"
    (tmp_path / f"{module}_needs.py").write_text("import no_such_library\n")
    (tmp_path / f"{module}_fails.py").write_text("1 / 0\n")
    for name, message in ((f"{module}_needs", "No module named 'no_such_library'"), (f"{module}_fails", "Zero")):
        with pytest.raises(InputError, match=f"its module cannot be imported.*{message}") as error:
            resolve(f"{name}:Class", "reward")
        assert error.value.code == "bad_extension"


def test_what_is_not_called_is_refused(module: str) -> None:
    with pytest.raises(InputError, match=r"not a class or function.*got int"):
        resolve(f"{module}:number", "format")
