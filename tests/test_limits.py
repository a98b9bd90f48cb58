"""Sizes, limits and the words of the error."""

import pytest

from coterie import MemoryLimitError
from coterie._limits import check_fits, format_bytes, memory_limit_bytes


@pytest.mark.parametrize(
    ("limit", "n_bytes"),
    [
        (1, 1),
        (10**12, 10**12),
        (1.5e3, 1500),
        ("512", 512),
        ("1k", 1024),
        ("1 KB", 1024),
        ("1.5kB", 1536),
        ("2.MB", 2 * 1024**2),
        ("500MB", 500 * 1024**2),
        (" 4 GiB ", 4 * 1024**3),
        ("1t", 1024**4),
    ],
)
def test_sizes_that_are_read(limit, n_bytes):
    assert memory_limit_bytes(limit) == n_bytes


@pytest.mark.parametrize(
    "limit", ["", "GB", "4XB", "1.2.3", ".", "-1", "nan", "1e3", float("nan"), float("inf"), True]
)
def test_sizes_that_are_not_read(limit):
    with pytest.raises(
        ValueError, match=r"memory_limit must be a number of bytes or a size such as '4GB'; got"
    ):
        memory_limit_bytes(limit)


@pytest.mark.parametrize("limit", [0, -1, -0.5, "0", "0 GB"])
def test_sizes_that_are_not_positive(limit):
    with pytest.raises(ValueError, match="memory_limit must be positive; got"):
        memory_limit_bytes(limit)


def test_environment_is_used_where_nothing_is_given(monkeypatch):
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "3MB")
    assert memory_limit_bytes() == 3 * 1024**2
    assert memory_limit_bytes("1kB") == 1024
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "")
    assert memory_limit_bytes() == 2 * 1024**3
    monkeypatch.delenv("COTERIE_MEMORY_LIMIT")
    assert memory_limit_bytes() == 2 * 1024**3


def test_error_names_the_environment_if_that_is_wrong(monkeypatch):
    monkeypatch.setenv("COTERIE_MEMORY_LIMIT", "much")
    with pytest.raises(ValueError, match=r"COTERIE_MEMORY_LIMIT must be a number .* got 'much'"):
        memory_limit_bytes()


def test_what_fits_and_what_does_not():
    check_fits(1024, "it", limit="1kB", hint="Do not")
    with pytest.raises(MemoryLimitError) as caught:
        check_fits(1536, "the thing", limit="1kB", hint="Buy a computer")
    assert str(caught.value) == (
        "the thing would take 1.5 kB, over the memory limit of 1.0 kB. Buy a computer, or raise "
        "the limit with memory_limit= or the environment variable COTERIE_MEMORY_LIMIT (for "
        "example '8GB')."
    )
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.0 kB"),
        (5 * 1024**2, "5.0 MB"),
        (2.5 * 1024**3, "2.5 GB"),
        (3000 * 1024**4, "3000.0 TB"),
    ],
)
def test_sizes_for_people(n_bytes, text):
    assert format_bytes(n_bytes) == text
