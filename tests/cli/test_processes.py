"""Commands and the processes they start: what these import, how they end, what is said then."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ENTRY = "import sys; from coterie.cli import main; sys.argv[0] = 'coterie'; main()"
NAMES = ["coterie", "joblib", "multiprocessing", "numba", "numpy", "pickle", "queue", "random"]
NAMES += ["secrets", "selectors", "signal", "sklearn", "socket", "struct", "tempfile", "threading"]
NAMES += ["tokenize", "typing"]
LOUD = """
with open({marker!r}, "a") as file:
    file.write({name!r} + " ")
raise ImportError("a file of the working directory was run")
"""
ON_LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
MANY = ("many.npy", "--raw", "-k", "3", "-p", "2000", "--checkpoint", "kept")


@pytest.fixture
def start(command, monkeypatch):
    """Start a command as the installed script does: without the working directory on the path."""
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    started = []

    def call(*args):
        process = command(
            *args, program=[sys.executable, "-P", "-c", ENTRY], start_new_session=True
        )
        started.append(process)
        return process

    yield call
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def many(tmp_path):
    """So much to do that no machine is done before it is stopped."""
    np.save(tmp_path / "many.npy", np.random.default_rng(0).normal(size=(3000, 20)))


def wait_until(happened, process=None):
    """Wait for a state, however busy the machine is; the process must not end before."""
    deadline = time.monotonic() + 300
    while not (found := happened()):
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


def workers_of(pid):
    """Return the joblib workers that a process has started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"popen_loky" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except (OSError, ValueError, IndexError):
            continue
    return found


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# --- what is imported -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args",
    [
        "cluster blobs.csv --truth kind --id name -k 3 -p 6 -j 2",
        "compare blobs.csv --truth kind --id name -k 3 -p 6 -j 2 -m eac -m voting",
        "reproduce laca --quick --only iris --runs 2 -j 2",
    ],
)
def test_nothing_is_imported_from_where_a_command_is_started(start, table, tmp_path, args):
    marker = tmp_path / "imported"
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text(LOUD.format(marker=str(marker), name=name))
    process = start(*args.split())
    out, err = process.communicate()
    assert not marker.exists(), marker.read_text()
    assert process.returncode == 0, err
    assert out


# --- interrupted ----------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")
@pytest.mark.parametrize("jobs", [1, 2])
def test_interrupted_with_a_checkpoint_and_continued(start, run, many, tmp_path, jobs):
    process = start("cluster", *MANY, "-j", str(jobs))
    wait_until(lambda: list(tmp_path.glob("kept/partition*")), process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert err == "coterie: interrupted. The same command continues from kept.\n"
    n_kept = len(list(tmp_path.glob("kept/partition*")))
    assert 1 <= n_kept < 2000
    shorter = ("many.npy", "--raw", "-k", "3", "-j", "1", "-p", str(n_kept + 1))
    continued = run("cluster", *shorter, "--checkpoint", "kept")
    assert continued.exit_code == 0, continued.stderr
    assert continued.stdout == run("cluster", *shorter).stdout


@pytest.mark.parametrize(
    "where", ["_input.read_table", "cluster.make_consensus", "cluster.check_destinations"]
)
@pytest.mark.parametrize("option", [("--checkpoint", "kept"), ("--checkpoint=kept",)])
def test_interrupted_at_any_moment(run, table, monkeypatch, where, option):
    def stop(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"coterie.cli.{where}", stop)
    result = run("cluster", table, "--truth", "kind", *option)
    assert result.exit_code == 130
    assert result.stderr == "coterie: interrupted. The same command continues from kept.\n"
    without = run("cluster", table).stderr
    assert without.endswith("With --checkpoint DIR the same command could have continued.\n")


# --- killed ---------------------------------------------------------------------------------------


@ON_LINUX
def test_the_work_of_a_killed_worker_is_done_again(start, run, tmp_path):
    np.save(tmp_path / "some.npy", np.random.default_rng(0).normal(size=(1500, 8)))
    options = ("some.npy", "--raw", "-k", "3", "-p", "60", "--method", "hbgf")
    process = start("cluster", *options, "-j", "2", "--checkpoint", "kept")
    wait_until(lambda: list(tmp_path.glob("kept/partition*")), process)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    out, err = process.communicate()
    undisturbed = run("cluster", *options, "-j", "1")
    assert (process.returncode, out, err) == (0, undisturbed.stdout, undisturbed.stderr)


@ON_LINUX
def test_workers_killed_again_and_again_are_one_line(start, many, tmp_path):
    process = start("cluster", *MANY, "-j", "2")
    while process.poll() is None:
        for pid in workers_of(process.pid):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert err.startswith("coterie: worker processes were killed 3 times")
    assert err.endswith("The same command continues from kept.\n")


@ON_LINUX
@pytest.mark.parametrize("moment", ["starting", "working"])
def test_workers_end_with_a_killed_command(start, many, tmp_path, moment):
    process = start("cluster", *MANY, "-j", "2")
    if moment == "working":
        wait_until(lambda: list(tmp_path.glob("kept/partition*")), process)
    workers = wait_until(lambda: workers_of(process.pid), process)
    process.kill()
    process.wait()
    wait_until(lambda: not any(is_alive(pid) for pid in workers))
