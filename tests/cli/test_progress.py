"""What a person at a terminal sees of a long step."""

import os
import re
import sys

import numpy as np
import pytest

pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")


def on_a_terminal(*command):
    """Return what a command writes to a terminal of 120 columns."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ |= {"COLUMNS": "120", "TERM": "xterm", "NO_COLOR": "1"}
        os.execv(sys.executable, [sys.executable, "-m", "coterie", *command])
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other end was closed
            break
        if not part:
            break
        shown += part
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, shown[-2000:].decode()
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.decode(errors="replace"))


@pytest.mark.parametrize("method", ["eac", "msteclust"])
def test_long_steps_show_how_much_time_is_left(method, tmp_path):
    labels = np.random.default_rng(0).integers(0, 30, size=(16_000, 12))
    np.save(tmp_path / "labels.npy", labels)
    command = ["consense", str(tmp_path / "labels.npy"), "--method", method, "--clusters", "5"]
    shown = on_a_terminal(*command, "-o", str(tmp_path / "out.csv"))
    name = {"eac": "EAC", "msteclust": "MSTEClust"}[method]
    parts = re.findall(rf"\({name}\): ([a-z ]+) \d:\d\d .*?(\d+)% +(\d\d:\d\d) left", shown)
    assert parts
    assert len({(words, share) for words, share, _ in parts}) > 1  # it moves
    assert "Traceback" not in shown


def test_quiet_shows_nothing_of_it(tmp_path):
    np.save(tmp_path / "labels.npy", np.random.default_rng(0).integers(0, 4, size=(50, 5)))
    labels, out = str(tmp_path / "labels.npy"), str(tmp_path / "out.csv")
    shown = on_a_terminal("consense", labels, "--method", "eac", "--quiet", "-o", out)
    assert shown.strip() == ""
