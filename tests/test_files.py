"""Files are written whole or not at all."""

import os
import stat

import pytest

from coterie._files import written_whole


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
