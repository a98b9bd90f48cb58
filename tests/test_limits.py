"""Limits of memory and threads: what is read, set, restored and refused."""

from concurrent.futures import ThreadPoolExecutor

import numba
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from coterie import MemoryLimitError
from coterie._limits import (
    check_fits,
    format_bytes,
    kernel_threads,
    memory_limit_bytes,
    one_thread,
)


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


def test_kernel_threads_are_set_and_restored():
    before = numba.get_num_threads()
    available = numba.config.NUMBA_NUM_THREADS
    for n_jobs, expected in ((1, 1), (-1, available), (10**6, available), (-(10**6), 1)):
        with kernel_threads(n_jobs):
            assert numba.get_num_threads() == expected
        assert numba.get_num_threads() == before
    with kernel_threads(1), kernel_threads(None):
        assert numba.get_num_threads() == 1
    with pytest.raises(RuntimeError), kernel_threads(1):
        raise RuntimeError
    assert numba.get_num_threads() == before


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_kernel_threads_refuse_what_is_no_number_of_threads(n_jobs):
    message = "n_jobs must be None, a number of threads or -1"
    with pytest.raises(ValueError, match=message), kernel_threads(n_jobs):
        raise AssertionError


def test_one_thread_is_held_until_the_last_computation_leaves():
    def blas_threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    @one_thread()
    def inside():
        return blas_threads()

    with threadpool_limits(2):
        before = blas_threads()
        with one_thread():
            assert inside() == {1}
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(inside).result() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == before
