"""Running a function on every block, here or on a Dask cluster, and combining the results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

from coterie._progress import track_progress
from coterie.blocks._sources import Source, read_part

__all__ = ["delay_blocks", "iterate_blocks", "quiet_graphs", "reduce_blocks"]

_FAN_IN = 8  # results that one task of the reduction combines

Function = Callable[..., Any]


def iterate_blocks(
    source: Source,
    function: Function,
    arguments: Sequence[tuple[Any, ...]],
    words: str,
    *,
    lazily: bool = False,
) -> Iterator[Any]:
    """Yield ``function(rows, *arguments[b])`` for every block in order, one at a time, here."""
    with track_progress(words, source.n_rows) as done:
        for part, length, given in zip(source.parts, source.lengths, arguments, strict=True):
            rows = part.compute() if source.is_delayed else part
            yield function(rows, *given) if lazily else _run_on(function, rows, *given)
            done[0] += length


def reduce_blocks(
    source: Source,
    function: Function,
    arguments: Sequence[tuple[Any, ...]],
    combine: Callable[[Any, Any], Any],
    words: str,
    *,
    lazily: bool = False,
) -> Any:
    """Combine the results of all blocks in their order; `combine` must be associative.

    With Dask, results are combined on the workers, so that no process holds all of them. With
    `lazily` the function gets parts that are not read yet, where they are files.
    """
    if not source.on_dask:
        return reduce(combine, iterate_blocks(source, function, arguments, words, lazily=lazily))
    import dask

    level = delay_blocks(source, function, arguments, lazily=lazily)
    merge = dask.delayed(_combine_all, pure=False)
    while len(level) > 1:
        level = [merge(combine, *level[i : i + _FAN_IN]) for i in range(0, len(level), _FAN_IN)]
    with track_progress(words), quiet_graphs():
        return level[0].compute()


def delay_blocks(
    source: Source,
    function: Function,
    arguments: Sequence[tuple[Any, ...]],
    *,
    lazily: bool = False,
) -> list[Any]:
    """Return Dask's delayed ``function(rows, *arguments[b])`` of every block."""
    import dask

    # Arguments that blocks share are sent once.
    shared: dict[int, Any] = {}

    def send(value: Any) -> Any:
        if id(value) not in shared:
            shared[id(value)] = dask.delayed(value, traverse=False)
        return shared[id(value)]

    run = dask.delayed(_call if lazily else _run_on, pure=False)
    return [
        run(function, part if source.is_delayed else send(part), *map(send, given))
        for part, given in zip(source.parts, arguments, strict=True)
    ]


@contextmanager
def quiet_graphs() -> Iterator[None]:
    """Do not warn of large graphs: tables of clusters may take some megabytes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph", category=UserWarning)
        yield


def _run_on(function: Function, part: Any, *arguments: Any) -> Any:
    return function(read_part(part), *arguments)


def _call(function: Function, part: Any, *arguments: Any) -> Any:
    return function(part, *arguments)


def _combine_all(combine: Callable[[Any, Any], Any], *results: Any) -> Any:
    return reduce(combine, results)
