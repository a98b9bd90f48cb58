"""The cache of compiled kernels: never stale, never in the way, never without bound."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import coterie
from coterie._kernels import _cache

WHERE = "from coterie._kernels._jit import _CACHE; print(_CACHE)"
KERNEL = """
from coterie._kernels._jit import njit
{more}

@njit
def {name}(x):
    return {result}
"""


@pytest.fixture
def package(tmp_path):
    """A copy of the package that may be edited."""
    there = tmp_path / "code" / "coterie"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(coterie.__file__).parent, there, ignore=ignored)
    return there


def run(package, script, **environment):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA_", "COTERIE_"))}
    environment = inherited | {"PYTHONPATH": str(package.parent)} | environment
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=package.parent,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.mark.slow
def test_an_edit_in_another_file_is_seen(package):
    inner, outer = package / "_kernels" / "inner.py", package / "_kernels" / "outer.py"
    inner.write_text(KERNEL.format(name="inner", result="x + 1", more=""))
    more = "from coterie._kernels.inner import inner"
    outer.write_text(KERNEL.format(name="outer", result="10 * inner(x)", more=more))
    script = """if True:
        from coterie._kernels.outer import outer
        print(outer(1), "from the cache" if outer.stats.cache_hits else "compiled")
    """
    assert run(package, script) == "20 compiled"
    assert run(package, script) == "20 from the cache"
    inner.write_text(KERNEL.format(name="inner", result="x + 2", more=""))
    assert run(package, script) == "30 compiled"
    assert len(list((package / "_kernels" / "__pycache__").glob("coterie-*"))) == 2


@pytest.mark.slow
def test_places_that_cannot_be_written(package, tmp_path):
    inside = package / "_kernels" / "__pycache__"
    assert Path(run(package, WHERE)).parent == inside
    shutil.rmtree(inside)
    inside.write_text("in the way")
    home = tmp_path / "home"
    there = run(package, WHERE, XDG_CACHE_HOME=str(home))
    assert Path(there).parent == home / "coterie"
    home.rename(tmp_path / "gone")
    home.write_text("in the way")
    assert run(package, WHERE, XDG_CACHE_HOME=str(home)) == "None"


@pytest.mark.slow
def test_switch_and_numbas_own_directory(package, tmp_path):
    assert run(package, WHERE, COTERIE_NUMBA_CACHE="0") == "None"
    there = run(package, WHERE, NUMBA_CACHE_DIR=str(tmp_path / "mine"))
    assert Path(there).parent == tmp_path / "mine"


def test_old_directories_go(tmp_path, monkeypatch):
    monkeypatch.setattr(_cache, "_places", lambda: iter([tmp_path]))
    names = [f"coterie-{i:016x}" for i in range(8)]
    for age, name in enumerate(names):
        (tmp_path / name / "kernels").mkdir(parents=True)
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    (tmp_path / "coterie-notes").mkdir()
    own = _cache.cache_directory()
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {own.name, "coterie-notes", *names[:4]}
    assert _cache.cache_directory() == own
