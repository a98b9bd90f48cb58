"""Files are written whole or not at all."""

import os
import stat

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie._files import escape_formulas, unescape_formulas, written_whole


def test_file_takes_its_name_at_the_end(tmp_path):
    target = tmp_path / "out.txt"
    with written_whole(target) as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path  # renaming works only on one file system
        assert not target.exists()
    assert target.read_text() == "new"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_failure_keeps_the_old_file_and_leaves_nothing(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")

    def write_half():
        with written_whole(target) as temporary:
            temporary.write_text("ha")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_old_file_is_replaced(tmp_path):
    target = tmp_path / "out.txt"
    target.write_text("old")
    with written_whole(str(target)) as temporary:
        temporary.write_text("new")
    assert target.read_text() == "new"


def test_directory_is_not_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"), written_whole(tmp_path / "folder") as temporary:
        temporary.write_text("x")
    assert os.listdir(tmp_path) == ["folder"]


def test_missing_directory_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), written_whole(tmp_path / "no" / "x"):
        pass


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_permissions_follow_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        with written_whole(tmp_path / "x") as temporary:
            temporary.write_text("x")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


CELLS = ["=1+1", "-5", "-x", "+1e3", "@s", "'=q", "plain", None, "\tt", "''-z", "'fine", "", "-"]


def test_text_that_a_spreadsheet_would_run_gets_a_quote():
    frame = pl.DataFrame({"=name": CELLS, "number": range(-6, 7), "other": CELLS[::-1]})
    escaped = escape_formulas(frame)
    assert escaped.columns == ["'=name", "number", "other"]
    cells = escaped["'=name"].to_list()
    assert cells[:6] == ["'=1+1", "-5", "'-x", "+1e3", "'@s", "''=q"]
    assert cells[6:] == ["plain", None, "'\tt", "'''-z", "'fine", "", "'-"]
    assert escaped["number"].equals(frame["number"])
    assert unescape_formulas(escaped).equals(frame)


@given(st.lists(st.text("=+-@'1a\t.e ", max_size=5), min_size=1))
def test_escaping_can_be_undone(cells):
    frame = pl.DataFrame({"text": cells})
    escaped = escape_formulas(frame)
    assert unescape_formulas(escaped).equals(frame)
    for cell in escaped["text"]:
        assert not cell.startswith(("=", "@", "\t", "-", "+")) or is_number(cell)


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
