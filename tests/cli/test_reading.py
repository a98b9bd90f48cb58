"""Input of every kind: read alike from files and pipes, or refused in one line."""

import datetime
import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import polars as pl
import pytest

from coterie import Ensemble

WORDS = {
    "empty": (b"", "is empty"),
    "blank": (b"\n\n\r\n", "is empty"),
    "blank line": (b"x,y\n1,2\n\n3,4\n", "line 3 is blank"),
    "open quote": (b'x,y\n1,2\n3,"4\n5,6\n', "a quote in line 3 is never closed"),
    "quote inside": (b'x,y\n5" pipe,2\n3,4\n', "a quote stands in the middle of a field"),
    "long line": (b"x,y\n1,2\n3,4,5\n", "line 3 has 3 fields, the first line has 2"),
    "short line": (b"x,y\n1,2\n3\n", "line 3 has 1 field, the first line has 2"),
    "quoted short": (b'x,y\n"1\n2",2\n3\n', "line 4 has 1 field, the first line has 2"),
    "latin 1": (b"x,y\n1,2\n3,\xe9\n", "not UTF-8 text (byte 0xe9 in line 3)"),
    "no mark": ("x,y\n1,2\n".encode("utf-16-le"), "UTF-16 without a byte order mark"),
    "twice": (b"x,x\n1,2\n3,4\n", "two columns with the name 'x'"),
    "cut off": (gzip.compress(b"x,y\n1,2\n")[:-6], "cannot be read as a table"),
    "zlib": (b"x\x01,y\n1,2\n", "it is not text"),
}


@pytest.mark.parametrize("case", WORDS)
def test_malformed_text_is_told_alike_from_file_and_pipe(refuse, tmp_path, case):
    data, words = WORDS[case]
    (tmp_path / "bad.csv").write_bytes(data)
    from_file = refuse("cluster", "bad.csv")
    assert words in from_file
    assert refuse("cluster", "-", input=data) == from_file.replace("bad.csv", "standard input")
    assert refuse("info", "bad.csv") == from_file


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cr", "crlf", "gz"])
def test_encodings_and_line_ends(run, table, tmp_path, encoding):
    text = table.read_text().replace("object 7", "größe 7")
    table.write_text(text)
    expected = run("cluster", table, "--id", "name", "--truth", "kind", "-p", "3").stdout
    if encoding in ("cr", "crlf"):
        data = text.replace("\n", "\r" if encoding == "cr" else "\r\n").encode()
    else:
        data = gzip.compress(text.encode()) if encoding == "gz" else text.encode(encoding)
    (tmp_path / "other.csv").write_bytes(data + b"" if encoding != "utf-8" else data + b"\n\n")
    options = ("--id", "name", "--truth", "kind", "-p", "3")
    assert "größe 7" in expected
    assert run("cluster", "other.csv", *options).stdout == expected
    assert run("cluster", "-", *options, input=data).stdout == expected


def test_many_lines_are_counted_across_blocks(refuse, tmp_path):
    lines = ["x,y", *["1,2"] * 400_000, "3", *["1,2"] * 10]  # more than a block of 1 MB
    (tmp_path / "long.csv").write_text("\n".join(lines))
    assert "line 400002 has 1 field" in refuse("info", "long.csv")


# --- sizes --------------------------------------------------------------------------------------


@pytest.fixture
def small_limit(monkeypatch):
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1MB")


def header(shape, dtype="<f8"):
    file = io.BytesIO()
    described = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, described)
    return file.getvalue()


@pytest.mark.usefixtures("small_limit")
def test_packed_text_is_measured_while_it_is_unpacked(refuse, tmp_path):
    text = b"x,y\n" + b"1,2\n" * 100_000  # 0.4 MB of text, 200,000 fields
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(text))
    message = refuse("info", "bomb.csv.gz")
    assert "bomb.csv.gz (" in message
    assert "over the memory limit of 1.0 MB" in message
    assert "COTERIE_MEMORY_LIMIT" in message
    assert "over the memory limit" in refuse("info", "-", input=gzip.compress(text))


def test_parquet_is_measured_first(refuse, tmp_path, monkeypatch):
    pl.DataFrame({"a": pl.repeat(1, 10**6, eager=True)}).write_parquet(tmp_path / "b.parquet")
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1MB")
    assert "b.parquet would take 7.6 MB" in refuse("info", "b.parquet")


def test_array_that_claims_more_than_its_file(refuse, tmp_path):
    (tmp_path / "huge.npy").write_bytes(header((10**11, 28)) + bytes(200))
    assert "huge.npy cannot be read as a table: its header claims more than the 328 bytes" in (
        refuse("cluster", "huge.npy")
    )


@pytest.mark.usefixtures("small_limit")
@pytest.mark.skipif(sys.platform == "win32", reason="sparse files")
def test_holes_of_a_sparse_file_are_not_its_size(refuse, tmp_path):
    (tmp_path / "holes.npy").write_bytes(header((10**6, 8)))
    os.truncate(tmp_path / "holes.npy", 64 * 10**6 + 128)
    assert "holes.npy would take 61.0 MB" in refuse("info", "holes.npy")


def test_sizes_in_an_archive_are_checked_before_unpacking(refuse, tmp_path, monkeypatch):
    Ensemble(np.arange(40).reshape(20, 2) % 3).save(tmp_path / "e.npz")
    for name, labels in (
        ("big", header((10**6, 2), "<i4") + bytes(8 * 10**6)),
        ("lie", header((10**12, 2)) + bytes(99)),
    ):
        with (
            zipfile.ZipFile(tmp_path / "e.npz") as old,
            zipfile.ZipFile(tmp_path / f"{name}.npz", "w", zipfile.ZIP_DEFLATED) as new,
        ):
            for entry in old.namelist():
                new.writestr(entry, labels if entry == "labels.npy" else old.read(entry))
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1MB")
    assert "big.npz (unpacked) would take 7.6 MB" in refuse("info", "big.npz")
    assert "lie.npz is not an ensemble" in refuse("info", "lie.npz")


def test_an_array_that_does_not_belong_to_an_archive(refuse, tmp_path, monkeypatch):
    Ensemble(np.arange(40).reshape(20, 2) % 3).save(tmp_path / "e.npz")
    with zipfile.ZipFile(tmp_path / "e.npz", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("junk.npy", header((10**6,)) + bytes(8 * 10**6))
    assert "its checksum does not fit" in refuse("consense", "e.npz", "-k", "2")
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "1MB")
    assert "e.npz (unpacked) would take" in refuse("consense", "e.npz", "-k", "2")


# --- what is no table ---------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes")
def test_a_named_pipe_is_refused_and_not_waited_for(refuse, tmp_path):
    for name, command in (("p.csv", "cluster"), ("p.npz", "consense"), ("p.json", "report")):
        os.mkfifo(tmp_path / name)
        assert f"{name} is a pipe or a device" in refuse(command, name)
    with pytest.raises(ValueError, match="is a pipe"):
        Ensemble.from_csv(tmp_path / "p.csv")


@pytest.mark.parametrize("option", ["--id", "--truth", "--columns"])
def test_parquet_columns_that_are_no_names(run, refuse, tmp_path, option):
    values = {
        "list": [[1, 2]] * 30,
        "struct": [{"a": 1}] * 30,
        "bytes": [b"\xff"] * 30,
        "span": [datetime.timedelta(days=i) for i in range(30)],
    }
    labels = {"a": [i % 3 for i in range(30)], "b": [i % 2 for i in range(30)]}
    days = [datetime.date(2020, 1, 1 + i % 3) for i in range(30)]
    pl.DataFrame({**labels, **values, "day": days}).write_parquet(tmp_path / "k.parquet")
    used = ("--columns", "a", "--columns", "b")
    for name in values:
        message = refuse("consense", "k.parquet", *used, option, name)
        assert f"column {name!r} holds values of the type" in message
    assert run("consense", "k.parquet", *used, option, "day").exit_code == 0
    assert run("info", "k.parquet").exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("9" * 5000, "is not JSON"),
        ("\xff", "is not JSON"),
        ("3", "is not a result of coterie"),
    ],
)
def test_json_that_is_no_result(refuse, tmp_path, text, words):
    (tmp_path / "r.json").write_bytes(text.encode("latin-1"))
    assert words in refuse("report", "r.json")


def test_json_of_another_shape(run, refuse, table, tmp_path):
    made = json.loads(run("cluster", table, "--id", "name", "--truth", "kind", "--json").stdout)
    for key in ("objects", "cuts", "ensemble", "agreement", "projection", "n_clusters"):
        (tmp_path / "r.json").write_text(json.dumps(made | {key: "x"}))
        assert "r.json is not a result of coterie" in refuse("report", "r.json")


# --- cells --------------------------------------------------------------------------------------


def test_one_bad_cell_is_named(run, refuse, tmp_path):
    cells = [str(i % 7) for i in range(1000)]
    cells[700] = "n/a?"
    text = "x,y\n" + "\n".join(f"{a},{i % 5}" for i, a in enumerate(cells))
    (tmp_path / "c.csv").write_text(text)
    message = refuse("cluster", "c.csv", "--raw")
    assert "column 'x' holds 'n/a?' in row 700 (counted from 0)" in message
    assert "--missing 'n/a?' --impute median" in message
    assert "--exclude" not in message
    mended = ("--missing", "n/a?", "--impute", "median", "-p", "2")
    assert run("cluster", "c.csv", *mended).exit_code == 0


@pytest.mark.parametrize("kind", ["category", "identifier"])
def test_one_bad_cell_is_told_where_its_column_is_prepared(run, tmp_path, kind):
    cells = [str(i % 7 if kind == "category" else i / 7) for i in range(300)]
    cells[70] = "n/a?"
    text = "x,z\n" + "\n".join(f"{cell},{i % 5}" for i, cell in enumerate(cells))
    (tmp_path / "c.csv").write_text(text)
    told = (
        "note: column 'x' is not used as numbers: it holds 'n/a?' in row 70 (counted from 0); "
        "the rest is numbers. Correct the file, or treat 'n/a?' as missing with "
        "--missing 'n/a?'."
    )
    options = ("c.csv", "-p", "2", "-k", "2")
    result = run("cluster", *options)
    assert result.exit_code == 0, result.stderr
    assert told in result.stderr
    words = "1 category encoded" if kind == "category" else "left out: 'x' (identifier)"
    assert words in result.stderr
    mended = run("cluster", *options, "--missing", "n/a?")
    assert mended.exit_code == 0, mended.stderr
    assert "prepared: 2 numeric columns scaled; 1 missing cell imputed.\n" in mended.stderr
    assert "is not used as numbers" not in mended.stderr


def test_decimal_commas_get_a_hint(refuse, tmp_path):
    (tmp_path / "c.csv").write_text("x;y\n1,5;2\n2,5;3\n")
    for command in (("cluster",), ("cluster", "--raw"), ("choose",), ("compare",), ("report",)):
        message = refuse(*command, "c.csv", "--separator", ";")
        assert "column 'x' holds decimal commas ('1,5' in row 0, counted from 0)" in message
        assert "decimal points instead of commas" in message
    (tmp_path / "all.csv").write_text("x;y\n1,5;2,1\n2,5;3,4\n")
    for command in ("choose", "compare"):  # not taken for the names of clusters
        assert "decimal points" in refuse(command, "all.csv", "--separator", ";")
    assert "decimal point" in refuse("choose", "c.csv", "--alpha", "0,05")


def test_no_clusters_gets_a_hint(refuse, table):
    assert "the number is chosen from the data" in refuse("cluster", table, "-k", "0")


@pytest.mark.parametrize("command", ["cluster", "compare", "choose", "report", "consense"])
def test_missing_values_of_any_name(run, refuse, tmp_path, command):
    rows = [f"{i % 3 * 9 + i % 2},{i % 3 * 8 + i % 5}" for i in range(60)]
    (tmp_path / "m.csv").write_text("\n".join(["x,y", *rows, "-999,3"]))
    options = {"compare": ("-m", "eac", "-k", "3", "--features"), "choose": ("--range", "2-3")}
    if command == "consense":
        result = run("consense", "m.csv", "--missing", "-999", "--json")
        assert json.loads(result.stdout)["ensemble"]["missing"] > 0
        return
    words = (command, "m.csv", "--missing", "-999", *options.get(command, ()))
    message = refuse(*words, "--raw")
    assert "features must not be missing; 1 are, the first in column 'x', row 60" in message
    result = run(*words)
    assert result.exit_code == 0, result.stderr
    assert "prepared: 2 numeric columns scaled; 1 missing cell imputed." in result.stderr


@pytest.mark.parametrize("kind", ["whole", "float", "category"])
def test_missing_values_of_every_type_of_column(run, tmp_path, kind):
    values = [i % 3 * 9 + i % 2 for i in range(60)]
    column, missing = {
        "whole": (pl.Series([*values, -999]), "-999"),
        "float": (pl.Series([*map(float, values), -999.0]), "-999"),
        "category": (
            pl.Series([*("ab"[v % 2] for v in values), "none"], dtype=pl.Categorical),
            "none",
        ),
    }[kind]
    pl.DataFrame({"u": column, "v": [*values, 3]}).write_parquet(tmp_path / "m.parquet")
    options = ("m.parquet", "-p", "2", "-k", "2", "--missing", missing)
    assert "1 missing cell imputed." in run("cluster", *options).stderr
    run("cluster", *options, "--save-model", "m.npz", "-o", "l.csv")
    # The model knows what stands for missing, too.
    pl.DataFrame({"u": column, "v": [*values, 3]})[-1:].write_parquet(tmp_path / "new.parquet")
    pl.DataFrame({"u": [None], "v": [3]}, schema={"u": column.dtype, "v": pl.Int64}).write_parquet(
        tmp_path / "null.parquet"
    )
    found = run("predict", "m.npz", "new.parquet").stdout
    assert found == run("predict", "m.npz", "null.parquet").stdout
    assert found.startswith("row,cluster,confidence\n0,")


def test_missing_values_of_numbers(run, tmp_path):
    np.save(tmp_path / "m.npy", np.array([[1.0, 2.0], [-999.0, 3.0], [4.0, 5.0]]))
    facts = json.loads(run("info", "m.npy", "--missing", "-999", "--json").stdout)
    assert facts["content"]["0"] == "whole numbers from 1 to 4, 2 different, 1 missing"


def test_info_counts_no_empty_cells(run, tmp_path):
    (tmp_path / "i.csv").write_text("x,t\n1,a\n,b\n2,\n3,NA\n")
    facts = json.loads(run("info", "i.csv", "--json").stdout)["content"]
    assert facts == {
        "x": "whole numbers from 1 to 3, 3 different, 1 missing",
        "t": "text ('a'), 2 different, 2 missing",
    }


# --- the process --------------------------------------------------------------------------------


def start(*words, shell_words="", **settings):
    """Run a command by a shell that closes streams or limits memory."""
    command = f'{shell_words} "$@"' if "ulimit" in shell_words else f'"$@" {shell_words}'
    return subprocess.run(
        ["sh", "-c", command, "sh", sys.executable, "-m", "coterie.cli", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        **settings,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_closed_streams(table, tmp_path):
    options = (table, "--id", "name", "--truth", "kind", "-p", "3", "--raw")
    done = start("cluster", "-", shell_words="<&-")
    assert (done.returncode, done.stderr) == (
        2,
        "coterie: standard input is closed; give a file.\n",
    )
    for words in (("cluster", *options), ("--help",)):
        done = start(*words, shell_words=">&-")
        assert done.returncode == 2
        assert done.stderr.endswith("coterie: standard input or output is closed.\n")
    done = start("cluster", *options, "-o", "l.csv", shell_words="<&- >&- 2>&-")
    assert done.returncode == 0
    assert pl.read_csv(tmp_path / "l.csv").height == 30


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is full")
def test_full_device(table):
    done = start("info", table, shell_words="> /dev/full")
    assert done.returncode == 2
    assert done.stderr == "coterie: cannot read or write: No space left on device.\n"


@pytest.mark.skipif(sys.platform != "linux", reason="a limit that Linux keeps")
def test_little_address_space(table):
    done = start("info", table, shell_words="ulimit -v 600000;")
    assert done.returncode == 2
    assert done.stderr.startswith("coterie: the address space is limited to 585.9 MB")
    assert start("--help", shell_words="ulimit -v 600000;").returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("module", ["typer", "polars"])
def test_interrupted_while_modules_are_imported(command, table, tmp_path, module):
    # The module says that its import has begun, and waits for the signal.
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / f"{module}.py").write_text(
        f"import pathlib, time\npathlib.Path({str(tmp_path / 'begun')!r}).touch()\ntime.sleep(60)\n"
    )
    path = os.pathsep.join([str(tmp_path / "slow"), *filter(None, sys.path)])
    process = command("info", table, env=os.environ | {"PYTHONPATH": path})
    while not (tmp_path / "begun").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "coterie: interrupted.\n")
