"""Reading files: clear errors for broken ones, and no more memory than the limit allows."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import stat
import tokenize
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coterie._limits import MemoryLimitError, format_bytes, memory_limit_bytes

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "check_memory",
    "check_regular",
    "check_table",
    "read_csv",
    "read_json",
    "read_npy",
    "read_parquet",
    "refuse_anndata",
]

MISSING_WORDS = ("", "NA", "N/A", "NaN", "nan", "null", "None", "?")
"""Text that stands for a missing value in a table."""

_CHUNK = 1 << 20
_TEXT_FIELD = 16  # bytes that polars takes for a field of text, beside long texts themselves
_ENCODINGS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark is the beginning of this one
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_GZIP = b"\x1f\x8b"


class UnreadableError(ValueError):
    """A file is broken or of another kind; the message names the file."""


# --- any file -----------------------------------------------------------------------------------


def check_regular(path: Path) -> None:
    """Raise an error for pipes and devices, which may never end."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(21, "Is a directory", str(path))
    if not stat.S_ISREG(mode):
        raise UnreadableError(
            f"{path} is a pipe or a device, not a file. Copy it to a file first, or on the "
            f"command line give - and redirect: - < {path} ."
        )


def check_memory(what: object, n_bytes: int, path: Path | None = None) -> None:
    """Raise `MemoryLimitError` for more bytes than both the memory limit and the file on disk."""
    limit = memory_limit_bytes()
    if n_bytes > max(limit, _bytes_on_disk(path)):
        raise MemoryLimitError(
            f"{what} would take {format_bytes(n_bytes)}, over the memory limit of "
            f"{format_bytes(limit)}. If the file is right, raise the limit with the environment "
            "variable COTERIE_MEMORY_LIMIT (for example '8GB')."
        )


def _bytes_on_disk(path: Path | None) -> int:
    """Return the bytes that a file takes on disk: holes in a sparse file do not count."""
    if path is None:
        return 0
    status = path.stat()
    return min(status.st_size, 512 * getattr(status, "st_blocks", status.st_size))


@contextmanager
def _unreadable(name: object, what: str) -> Iterator[None]:
    """Turn the errors of decoders into a ValueError that names the file."""
    import polars as pl

    broken = (
        *(pl.exceptions.PolarsError, ValueError, EOFError, zlib.error, gzip.BadGzipFile),
        *(tokenize.TokenError, SyntaxError),  # numpy parses the header of an array as Python
        pl.exceptions.PanicException,  # no Exception: polars on a damaged Parquet file
    )
    try:
        yield
    except (MemoryLimitError, UnreadableError):
        raise
    except (*broken, MemoryError, OverflowError) as error:
        why = str(error).strip().split("\n")[0].rstrip(".") or type(error).__name__
        raise UnreadableError(f"{name} cannot be read as {what}: {why}.") from error


# --- text tables --------------------------------------------------------------------------------


def read_csv(
    source: Path | IO[bytes], name: object, *, separator: str = ",", header: bool = True
) -> pl.DataFrame:
    """Read a table of text, every column as text; gzip, UTF-8, UTF-16 and UTF-32 are recognised.

    Raises ValueError for whatever is malformed, with `name` and the number of the line.
    """
    import polars as pl

    if len(separator.encode()) != 1 or separator in '"\n\r':
        raise ValueError(f"separator must be one character, no quote; got {separator!r}.")
    with _unreadable(name, "a table"):
        if isinstance(source, Path):
            check_regular(source)
            check_memory(name, source.stat().st_size)
            with open(source, "rb") as stream:
                data = _read_text(stream, name, separator)
        else:
            data = _read_text(source, name, separator)
        if data.isspace():
            raise UnreadableError(f"{name} is empty.")
        _check_lines(data, separator)
        try:
            frame = pl.read_csv(data, separator=separator, has_header=header, infer_schema=False)
        except pl.exceptions.ComputeError as error:
            if b'"' in data:  # everything else was checked before
                raise ValueError("a quote stands in the middle of a field") from error
            raise
    _check_names(frame.columns, name)
    return frame


def row_name_column(frame: pl.DataFrame) -> str | None:
    """Return the first column if it names the rows, as R's write.csv and pandas make it.

    Its heading is empty, and its values are all there and all different.
    """
    name: str = frame.columns[0]
    if name.strip() not in ("", "Unnamed: 0"):
        return None
    column = frame[name]
    is_name = column.null_count() == 0 and column.n_unique() == frame.height > 1
    return name if is_name else None


def _read_text(stream: IO[bytes], name: object, separator: str) -> bytes:
    """Return text as UTF-8 with a line feed after each line."""
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(stream)
    packed = buffered.peek(2)[:2] == _GZIP
    source: Any = gzip.GzipFile(fileobj=buffered) if packed else buffered
    head = source.read(_CHUNK)
    encoding = next((code for mark, code in _ENCODINGS.items() if head.startswith(mark)), "utf-8")
    decoder = codecs.getincrementaldecoder(encoding)()
    text, n_fields, n_lines, chunk = io.BytesIO(), 0, 0, head
    while True:
        try:
            part = decoder.decode(chunk, final=not chunk).encode()
        except UnicodeDecodeError as error:
            line = n_lines + error.object[: error.start].count(b"\n") + 1
            byte = error.object[error.start]
            raise ValueError(
                f"it is not {encoding.upper()} text (byte 0x{byte:02x} in line {line}); save it "
                "as UTF-8"
            ) from None
        if b"\0" in part:
            raise ValueError("it is not text, or text in UTF-16 without a byte order mark")
        text.write(part)
        n_lines += max(part.count(b"\n"), part.count(b"\r"))
        n_fields += part.count(separator.encode())
        size = f"{format_bytes(text.tell())} of text or more{', unpacked' if packed else ''}"
        check_memory(f"{name} ({size})", text.tell() + _TEXT_FIELD * (n_fields + n_lines))
        if not chunk:
            break
        chunk = source.read(_CHUNK)
    return _with_line_feeds(text.getvalue(), separator)


def _with_line_feeds(data: bytes, separator: str) -> bytes:
    """Return text with line feeds as line ends, without blank lines at the end."""
    if data.startswith(b"x\x01"):  # polars would unpack it, as zlib
        raise ValueError("it is not text")
    if b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    first_line = data[: data.find(b"\n") + 1]
    if separator.encode() in first_line and data.endswith((b"\n\n", b"\n\r\n")):
        data = data.rstrip(b"\r\n")  # a blank line of one column is a missing value
    return data if data.endswith(b"\n") else data + b"\n"


def _check_lines(data: bytes, separator: str) -> None:
    """Raise ValueError unless every quote is closed and all lines have as many fields."""
    start = len(data) - len(data.lstrip(b"\r\n"))
    first_line = data.count(b"\n", 0, start) + 1
    counts = _count_quoted if b'"' in data else _count_plain
    expected = 0
    for line, n_fields in counts(data, separator, start):
        expected = expected or int(n_fields[0])
        odd = np.flatnonzero(n_fields != expected)
        if len(odd):
            found = int(n_fields[odd[0]])
            number = first_line + int(line[odd[0]])
            before = data.split(b"\n", number)[number - 1 : number]  # none if lines end in CR, too
            is_blank = found == 1 and before and not before[0].strip()
            fields = "field" if found == 1 else "fields"
            raise ValueError(
                f"line {number} is blank"
                if is_blank
                else f"line {number} has {found} {fields}, the first line has {expected}"
            )


Counts = Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]


def _count_plain(data: bytes, separator: str, start: int) -> Counts:
    """Yield line numbers from 0 and fields of lines without quotes, many lines at a time."""
    n_lines = 0
    while start < len(data):
        stop = data.rfind(b"\n", start, start + _CHUNK) + 1 or data.find(b"\n", start) + 1
        chunk = np.frombuffer(data, dtype=np.uint8, offset=start, count=stop - start)
        ends = np.flatnonzero(chunk == ord("\n"))
        marks = np.flatnonzero(chunk == ord(separator))
        yield (
            n_lines + np.arange(len(ends)),
            np.diff(np.searchsorted(marks, ends), prepend=0) + 1,
        )
        n_lines += len(ends)
        start = stop


def _count_quoted(data: bytes, separator: str, start: int) -> Counts:
    """Yield the same where quoted fields may hold separators and line ends."""
    stream = io.BytesIO(data)
    stream.seek(start)
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="")
    reader = csv.reader(text, delimiter=separator, strict=True)
    largest_field = csv.field_size_limit(len(data))
    began = 0
    try:
        for row in reader:
            yield np.array([began]), np.array([max(1, len(row))])
            began = reader.line_num
    except csv.Error as error:
        if "unexpected end" in str(error):
            raise ValueError(f"a quote in line {began + 1} is never closed") from None
        raise ValueError(f"line {began + 1}: {error}") from None
    finally:
        csv.field_size_limit(largest_field)


def refuse_anndata(X: Any) -> None:
    """Raise TypeError for an AnnData, and name the functions that take one."""
    if type(X).__module__.partition(".")[0] == "anndata":
        raise TypeError(
            "this takes a table, not an AnnData. Use the functions of coterie.anndata, such as "
            "coterie.anndata.cluster(adata), or pass a table of it, such as adata.obsm['X_pca']."
        )


def check_table(X: Any) -> None:
    """Raise an error for an AnnData, and for a frame with two columns of the same name."""
    refuse_anndata(X)
    if isinstance(X, np.ndarray | list | tuple) or not hasattr(X, "columns"):
        return
    seen: set[str] = set()
    for name in map(str, getattr(X, "column_names", X.columns)):  # the former for pyarrow
        if name in seen:
            raise ValueError(
                f"X has two columns with the name {name!r}; give each column a name of its own, "
                "or pass X.to_numpy()."
            )
        seen.add(name)


def _check_names(columns: list[str], name: object) -> None:
    """Raise ValueError for two columns of the same name, of which polars has renamed the second."""
    for column in columns:
        first, mark, _ = column.partition("_duplicated_")
        if mark and first in columns:
            raise ValueError(
                f"{name} has two columns with the name {first!r}; each column needs a name of "
                "its own. If the first line is data, say that there is no header (--no-header)."
            )


# --- arrays and JSON ----------------------------------------------------------------------------


def read_npy(path: Path) -> NDArray[Any]:
    """Read an array of numbers or text; its header is checked against the size of the file."""
    check_regular(path)
    with _unreadable(path, "a table"):
        try:
            # Mapped, so that nothing is allocated for what the header claims.
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError as error:
            if "pickle" in str(error) or "Python objects" in str(error):
                raise ValueError("it is not a numpy array of numbers or text") from error
            if "mmap length" in str(error):
                size = format_bytes(path.stat().st_size)
                raise ValueError(f"its header claims more than the {size} of the file") from error
            raise
        if not isinstance(array, np.ndarray):
            raise ValueError("it holds no array")
        check_memory(path, array.nbytes, path)
    return array


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a Parquet table; its number of rows is checked first."""
    import polars as pl

    check_regular(path)
    with _unreadable(path, "a table"):
        n_columns = len(pl.read_parquet_schema(path))
        n_rows = int(pl.scan_parquet(path).select(pl.len()).collect().item())
        check_memory(path, 8 * n_rows * n_columns, path)
        return pl.read_parquet(path)


def read_json(path: Path) -> Any:
    """Read a JSON file; raise ValueError if it is not JSON."""
    check_regular(path)
    check_memory(path, path.stat().st_size, path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}.") from error
