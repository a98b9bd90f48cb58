"""Running an experiment: in parallel, continued where it stopped, down to tables and figures."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from coterie._limits import one_thread
from coterie._progress import track_progress
from coterie.datasets import Dataset, available, load
from coterie.datasets._load import DATA_VARIABLE
from coterie.experiments._frame import Experiment, Results, Task
from coterie.experiments._store import Store, write_text
from coterie.experiments._tables import Table
from coterie.generation._parallel import run_unordered

__all__ = ["Report", "run_experiment"]

_DPI = 100


class Report(NamedTuple):
    """What came out of an experiment."""

    results: Results
    tables: list[Table]
    files: list[Path]
    """Tables and figures that were written."""
    notes: list[str]


def run_experiment(
    experiment: Experiment,
    output: str | os.PathLike[str],
    *,
    runs: int | None = None,
    seed: int = 0,
    quick: bool = False,
    only: Sequence[str] = (),
    data: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
) -> Report:
    """Run what is not yet done, and write tables and figures.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    output : path
        Directory that collects finished tasks, tables and figures. The same call continues a
        run that was killed, to the same result.
    runs : int, optional
        Repetitions of each part. Default: as many as in the paper. More can be added later.
    seed : int, default=0
        Seed of everything.
    quick : bool, default=False
        A small version of the experiment, to see it work.
    only : sequence of str
        Parts or data sets to keep. Default: all.
    data : path, optional
        Folder of data sets, see `coterie.datasets.load`.
    n_jobs : int, optional
        Number of tasks at a time, as in joblib.

    Returns
    -------
    report : Report
        Results, tables, names of the files written, and remarks.
    """
    output = Path(output)
    directory = _data_directory(data)
    tasks = experiment.tasks(runs=runs, seed=seed, quick=quick, only=only)
    prints, missing = _look_at_data(tasks, directory)
    store = Store(output, {"experiment": experiment.name, "seed": seed, "quick": quick})
    ready = [task for task in tasks if task.dataset not in missing]
    finished = store.finished(ready, prints)
    total = len(ready)
    waiting = {task.name: task for task in ready if task.name not in finished}
    calls = [(experiment.compute, task, directory) for task in waiting.values()]
    try:
        with (
            track_progress("tasks", total) as done,
            closing(run_unordered(_run_task, calls, n_jobs=n_jobs, one_by_one=True)) as arriving,
        ):
            done[0] = len(finished)
            for name, values, seconds in arriving:
                finished[name] = store.save(waiting[name], prints, values, seconds)
                done[0] = len(finished)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{len(finished)} of {total} tasks are done; the same command continues."
        ) from None
    results = _collect(tasks, finished, missing)
    words = ["coterie reproduce", experiment.name, *(f"--only {name}" for name in only)]
    words += ["--quick"] if quick else []
    words += [f"--runs {1 + max(task.run for task in tasks)}", f"--seed {seed}"]
    return _write(experiment, results, output, " ".join(words))


def _data_directory(data: str | os.PathLike[str] | None) -> Path | None:
    """Return the folder of data sets in full, for workers that do not know ours."""
    given = os.environ.get(DATA_VARIABLE) if data is None else data
    return Path(given).absolute() if given else None


def _look_at_data(
    tasks: Sequence[Task], directory: Path | None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return a fingerprint of each data set, and why others cannot be had."""
    names = dict.fromkeys(task.dataset for task in tasks if task.dataset)
    known = set(available(directory)) if names else set()
    prints: dict[str, Any] = {}
    missing: dict[str, str] = {}
    for name in names:
        if name not in known:
            missing[name] = f"no data: {name} not found (--data DIR or COTERIE_DATA)"
            continue
        try:
            dataset = load(name, directory)
        except ValueError as error:
            missing[name] = f"no data: {error}"
            continue
        check = zlib.crc32(dataset.target.tobytes(), zlib.crc32(dataset.data.tobytes()))
        prints[name] = {"shape": list(dataset.data.shape), "crc32": check}
    return prints, missing


def _run_task(
    compute: Callable[[Task, Dataset | None], dict[str, Any]],
    task: Task,
    directory: Path | None,
) -> tuple[str, dict[str, Any], float]:
    """Run one task on a single thread, in a process of joblib's."""
    start = time.perf_counter()
    try:
        dataset = None if task.dataset is None else load(task.dataset, directory)
        with one_thread():
            values = compute(task, dataset)
    except Exception as error:
        raise RuntimeError(f"task {task.name}: {type(error).__name__}: {error}") from error
    return task.name, values, time.perf_counter() - start


def _collect(
    tasks: Sequence[Task], finished: dict[str, dict[str, Any]], missing: dict[str, str]
) -> Results:
    values: dict[str, list[dict[str, Any]]] = {}
    absent: dict[str, str] = {}
    for task in tasks:
        if task.dataset in missing:
            absent[task.part] = missing[task.dataset]
        else:
            values.setdefault(task.part, []).append(finished[task.name])
    return Results(values, absent)


def _write(experiment: Experiment, results: Results, output: Path, command: str) -> Report:
    tables = list(experiment.tables(results))
    written, notes = [], []
    for table in tables:
        written.append(output / f"{table.name}.csv")
        write_text(written[-1], table.to_csv())
    written.append(output / "tables.md")
    body = "\n".join(table.to_markdown() for table in tables)
    write_text(written[-1], f"# {experiment.title}\n\nMade by `{command}`.\n\n{body}")
    if experiment.figures is not None and results.parts:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            notes.append('no figures: they need matplotlib; pip install "coterie[plot]"')
        else:
            from coterie._files import written_whole

            for name, figure in experiment.figures(results).items():
                written.append(output / f"{name}.png")
                written[-1].parent.mkdir(exist_ok=True)
                with written_whole(written[-1]) as temporary:
                    figure.savefig(temporary, format="png", dpi=_DPI, bbox_inches="tight")
    return Report(results, tables, written, notes)
