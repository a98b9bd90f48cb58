"""What every paper's experiment shares: tasks, their results, and how they are run."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coterie.experiments._tables import Row, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from coterie.datasets import Dataset

__all__ = ["Experiment", "Results", "Task", "by_tenth", "draw_per_class", "sample_of"]


@dataclass(frozen=True)
class Task:
    """One independent piece of an experiment: the unit that is run, stored and continued.

    Parameters
    ----------
    part : str
        What it belongs to, such as a data set or a setting; ``--only`` chooses by it.
    run : int
        Which repetition it is, from 0.
    dataset : str, optional
        Name of the data set it needs, for `coterie.datasets.load`.
    parameters : mapping
        Everything else that its result depends on, as JSON knows it.
    seed : int
        Set by the frame from the seed of the experiment, `part` and `run`, so that a run has
        the same draws however many others there are.
    """

    part: str
    run: int = 0
    dataset: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @property
    def name(self) -> str:
        """Name of the task, good for a file."""
        return f"{re.sub(r'[^a-z0-9]+', '-', self.part.lower()).strip('-')}-{self.run:03d}"

    def seeded(self, seed: int) -> Task:
        """Return the same task with the seed that the experiment's seed gives it."""
        words = np.random.SeedSequence([seed, zlib.crc32(self.part.encode()), self.run])
        return replace(self, seed=int(words.generate_state(1)[0]))


@dataclass(frozen=True)
class Results:
    """What the tasks of an experiment have found.

    Attributes
    ----------
    values : dict of list of dict
        For each part the results of its runs, in order of the runs.
    absent : dict of str
        For each part that could not be run, why.
    """

    values: Mapping[str, Sequence[Mapping[str, Any]]]
    absent: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> list[str]:
        """The parts that have results."""
        return [part for part, runs in self.values.items() if runs]

    def asked(self, parts: Iterable[str]) -> list[str]:
        """Return those of some parts that were asked for: with results, or absent."""
        return [part for part in parts if part in self.values or part in self.absent]

    def numbers(self, part: str, key: str) -> NDArray[np.float64]:
        """Return a number, or a list of numbers, of each run; NaN where a run has none.

        The shape is (runs,) or (runs, length of the list), and (0,) for an absent part.
        """
        found = [run.get(key) for run in self.values.get(part, ())]
        return np.array(found, dtype=np.float64)

    def row(
        self,
        part: str,
        key: str,
        *,
        keys: Sequence[str],
        paper: float | None = None,
        paper_std: float | None = None,
        statistic: Callable[[NDArray[np.float64]], Any] | None = None,
    ) -> Row:
        """Return a row for a table: mean and standard deviation over runs, beside the paper's.

        Parameters
        ----------
        part, key : str
            Which numbers. An absent part gives a row that says why.
        keys : sequence of str
            The row's place in the table.
        paper, paper_std : float, optional
            The published number, and its standard deviation if there is one.
        statistic : callable, optional
            What to report instead of the mean, such as ``np.max``; then without a standard
            deviation.

        Returns
        -------
        row : Row
            Standard deviations are those of a sample (n - 1), None for a single run.
        """
        numbers = self.numbers(part, key)
        numbers = numbers[np.isfinite(numbers)]
        if not len(numbers):
            note = self.absent.get(part, "not run")
            return Row(tuple(keys), paper, note=note, paper_std=paper_std)
        ours = float((statistic or np.mean)(numbers))
        spread = statistic is None and len(numbers) > 1
        return Row(
            tuple(keys),
            paper,
            ours if np.isfinite(ours) else None,
            float(numbers.std(ddof=1)) if spread else None,
            len(numbers),
            paper_std=paper_std,
        )

    def rows(
        self,
        parts: Iterable[str] | Mapping[str, str],
        columns: Mapping[str, str],
        *,
        paper: Callable[[str, str], float | None] | None = None,
        statistic: Callable[[NDArray[np.float64]], Any] | None = None,
    ) -> list[Row]:
        """Return a row for each part and column, part by part.

        Parameters
        ----------
        parts : iterable of str, or mapping from part to title
            Parts that were not asked for are left out.
        columns : mapping from key to title
            Which numbers, and what they are called. The keys of a row are the two titles.
        paper : callable, optional
            Returns the published number for two titles, and the published standard deviation for
            the second title followed by " std".
        statistic : callable, optional
            See `row`.
        """
        titles = parts if isinstance(parts, Mapping) else {part: part for part in parts}
        find = paper or (lambda part, column: None)
        return [
            self.row(
                part,
                key,
                keys=(titles[part], column),
                paper=find(titles[part], column),
                paper_std=find(titles[part], f"{column} std"),
                statistic=statistic,
            )
            for part in self.asked(titles)
            for key, column in columns.items()
        ]


@dataclass(frozen=True)
class Experiment:
    """A paper's experiment.

    Parameters
    ----------
    name : str
        As in ``coterie reproduce <name>``.
    title : str
        Authors, year and title of the paper.
    runs, quick_runs : int
        How often the paper repeats each part, and how often ``--quick`` does.
    plan : callable(runs, quick) -> iterable of Task
        The tasks.
    compute : callable(task, dataset) -> dict
        Runs one task: a module-level function of nothing but its arguments, random only through
        ``task.seed``. The result is numbers, strings, None, and lists and dicts of these; numpy
        numbers and arrays will do.
    tables : callable(results) -> iterable of Table
        The tables, from what is there.
    figures : callable(results) -> dict of matplotlib Figure, optional
        Figures by the name of their file. matplotlib is imported in there.
    """

    name: str
    title: str
    runs: int
    plan: Callable[[int, bool], Iterable[Task]]
    compute: Callable[[Task, Dataset | None], dict[str, Any]]
    tables: Callable[[Results], Iterable[Table]]
    figures: Callable[[Results], dict[str, Figure]] | None = None
    quick_runs: int = 2

    def tasks(
        self,
        *,
        runs: int | None = None,
        seed: int = 0,
        quick: bool = False,
        only: Sequence[str] = (),
    ) -> list[Task]:
        """Return the seeded tasks, first runs first, so that the time left can be told.

        `only` keeps tasks by the name of their part or data set.
        """
        if runs is None:
            runs = self.quick_runs if quick else self.runs
        if runs < 1:
            raise ValueError(f"runs must be at least 1; got {runs}.")
        tasks = [task.seeded(seed) for task in self.plan(runs, quick)]
        names = {task.name for task in tasks}
        if len(names) < len(tasks):
            raise ValueError(f"tasks of {self.name!r} must differ in part or run.")
        known = list(dict.fromkeys(name for t in tasks for name in (t.part, t.dataset) if name))
        for name in only:
            if name not in known:
                raise ValueError(
                    f"only must name parts of {self.name!r}: {', '.join(known)}; got {name!r}."
                )
        chosen = [t for t in tasks if not only or t.part in only or t.dataset in only]
        return sorted(chosen, key=lambda task: task.run)


def draw_per_class(
    classes: NDArray[np.int64], size: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return `size` objects of each class, drawn at random, in ascending order."""
    members = [np.flatnonzero(classes == c) for c in np.unique(classes)]
    return np.sort(np.concatenate([rng.choice(of, size, replace=False) for of in members]))


def sample_of(dataset: Dataset, task: Task) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return features and classes of at most ``task.parameters["max_objects"]`` objects.

    Classes are numbered from 0 without gaps.
    """
    X, classes = np.asarray(dataset.data, dtype=np.float64), dataset.target
    most = task.parameters["max_objects"]
    if len(X) > most:
        rng = np.random.default_rng(task.seed)
        rows = np.sort(rng.choice(len(X), most, replace=False))
        X, classes = X[rows], classes[rows]
    return X, np.unique(classes, return_inverse=True)[1]


def by_tenth(confidence: NDArray[np.float64], weights: Any = None) -> NDArray[Any]:
    """Return how many values, or the sum of their weights, lie in each tenth of [0, 1]."""
    place = np.minimum((confidence * 10).astype(int), 9)
    return np.bincount(place, weights, minlength=10)
