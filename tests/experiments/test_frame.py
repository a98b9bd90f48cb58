"""The frame: seeded tasks, a directory that can be continued, tables."""

import csv
import json

import numpy as np
import pytest

from coterie.experiments import (
    EXPERIMENTS,
    Experiment,
    Results,
    Row,
    Table,
    Task,
    get_experiment,
    published,
)
from coterie.experiments._frame import by_tenth, draw_per_class
from coterie.experiments._run import run_experiment

pytestmark = pytest.mark.slow


class _Killed(BaseException):
    """Ends a run at once, as a signal would."""


def _plan(runs, quick):
    for part, dataset in (("Wine, all", "wine"), ("made", None), ("gone", "no_such_set")):
        for run in range(runs):
            yield Task(part, run, dataset, {"size": 2 if quick else 5})


def _compute(task, dataset):
    rng = np.random.default_rng(task.seed)
    n = 0 if dataset is None else len(dataset.data)
    return {"n": n, "draw": rng.normal(), "curve": rng.random(3), "nothing": np.nan}


def _tables(results):
    rows = [
        results.row(part, "draw", keys=(part, "mean"), paper=0.5)
        for part in ("Wine, all", "made", "gone")
    ]
    yield Table("draws", "Draws", ("part", "statistic"), rows)


def _experiment(**changes):
    settings = {"plan": _plan, "compute": _compute, "tables": _tables} | changes
    return Experiment("toy", "A toy", runs=3, **settings)


def _run(output, *, compute=_compute, plan=_plan, **settings):
    return run_experiment(_experiment(compute=compute, plan=plan), output, n_jobs=1, **settings)


def _files(directory):
    return {path.name: path.read_bytes() for path in sorted(directory.glob("*.*"))}


def test_runs_are_seeded_by_part_and_number():
    few, many = (_experiment().tasks(runs=runs, seed=7) for runs in (2, 4))
    assert {t.name: t.seed for t in few}.items() <= {t.name: t.seed for t in many}.items()
    assert len({t.seed for t in many}) == len(many)
    assert {t.seed for t in many}.isdisjoint(t.seed for t in _experiment().tasks(runs=4, seed=8))
    assert [t.run for t in many] == sorted(t.run for t in many)


def test_numbers_of_runs():
    assert len(_experiment().tasks()) == 9
    assert len(_experiment().tasks(quick=True)) == 6
    assert _experiment().tasks(quick=True)[0].parameters == {"size": 2}
    with pytest.raises(ValueError, match="runs must be at least 1; got 0"):
        _experiment().tasks(runs=0)


def test_only_chooses_parts_or_data_sets():
    assert {t.part for t in _experiment().tasks(only=["made"])} == {"made"}
    assert {t.part for t in _experiment().tasks(only=["wine", "made"])} == {"Wine, all", "made"}
    with pytest.raises(ValueError, match=r"Wine, all, wine, made, gone, .*got 'beer'"):
        _experiment().tasks(only=["beer"])


def test_tasks_with_the_same_name_are_refused():
    twice = _experiment(plan=lambda runs, quick: [Task("a b"), Task("a-b")])
    with pytest.raises(ValueError, match="must differ"):
        twice.tasks()


def test_same_result_however_it_is_run(tmp_path):
    one = _run(tmp_path / "one")
    assert _run(tmp_path / "two").results == one.results
    # In pieces: fewer runs first, a part first, then everything.
    _run(tmp_path / "three", runs=1)
    _run(tmp_path / "three", only=["made"])
    assert _run(tmp_path / "three").results == one.results
    assert _files(tmp_path / "one") == _files(tmp_path / "three")


def test_a_killed_run_is_continued(tmp_path, progress):
    whole = _run(tmp_path / "whole")
    left = 2

    def killed_after_two(task, dataset):
        nonlocal left
        if left == 0:
            raise _Killed
        left -= 1
        return _compute(task, dataset)

    with pytest.raises(_Killed):
        _run(tmp_path / "out", compute=killed_after_two)
    tasks = sorted(path.stem for path in (tmp_path / "out" / "tasks").iterdir())
    assert tasks == ["made-000", "wine-all-000"]
    assert _files(tmp_path / "out") == {}

    done = []

    def counted(task, dataset):
        done.append(task.name)
        return _compute(task, dataset)

    again = _run(tmp_path / "out", compute=counted)
    assert len(done) == 4
    assert set(done).isdisjoint(tasks)
    assert progress.counts()["tasks"] == (6, 6)
    assert again.results == whole.results
    assert _files(tmp_path / "out") == _files(tmp_path / "whole")


def test_a_damaged_result_is_made_again(tmp_path):
    whole = _run(tmp_path)
    (tmp_path / "tasks" / "made-001.json").write_text('{"values": {"dra')
    (tmp_path / "tasks" / "made-002.json").write_text("[1, 2]")
    assert _run(tmp_path).results == whole.results


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"seed": 1}, "another seed"),
        ({"quick": True}, "another quick"),
        ({"seed": 1, "only": ["gone"]}, "another seed"),
        ({"plan": lambda runs, quick: [Task("made", 0, None, {"size": 6})]}, "another parameters"),
    ],
)
def test_results_of_another_recipe_are_refused(tmp_path, changes, what):
    _run(tmp_path)
    before = _files(tmp_path)
    with pytest.raises(ValueError, match=what) as refusal:
        _run(tmp_path, **changes)
    assert "another output" in str(refusal.value)
    assert _files(tmp_path) == before


def test_results_on_other_data_are_refused(tmp_path):
    plan = lambda runs, quick: [Task("mine", 0, "mine")]  # noqa: E731
    (tmp_path / "mine.csv").write_text("x,label\n1,0\n2,1\n")
    _run(tmp_path / "out", plan=plan, data=tmp_path)
    (tmp_path / "mine.csv").write_text("x,label\n1,0\n3,1\n")
    with pytest.raises(ValueError, match="another data"):
        _run(tmp_path / "out", plan=plan, data=tmp_path)


def test_data_are_found_through_the_environment(tmp_path, monkeypatch):
    (tmp_path / "no_such_set.csv").write_text("x,label\n1,0\n2,1\n")
    monkeypatch.setenv("COTERIE_DATA", str(tmp_path))
    report = _run(tmp_path / "out")
    assert report.results.absent == {}
    assert report.results.numbers("gone", "n").tolist() == [2, 2, 2]


def test_missing_data_is_a_row_that_says_so(tmp_path):
    report = _run(tmp_path)
    assert report.results.parts == ["Wine, all", "made"]
    row = report.tables[0].rows[2]
    assert row.ours is None
    assert row.paper == 0.5
    assert "no_such_set not found" in row.note
    assert "no_such_set not found" in (tmp_path / "tables.md").read_text()
    assert "no_such_set not found" in (tmp_path / "draws.csv").read_text()


def test_unreadable_data_is_a_row_that_says_so(tmp_path):
    (tmp_path / "no_such_set.csv").write_text("x,label\nred,0\n")
    assert "'red'" in _run(tmp_path / "out", data=tmp_path).tables[0].rows[2].note


def test_a_failing_task_is_named(tmp_path):
    def fails(task, dataset):
        raise ZeroDivisionError("oh")

    with pytest.raises(RuntimeError, match="task wine-all-000: ZeroDivisionError: oh"):
        _run(tmp_path, compute=fails)


def test_output_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(NotADirectoryError, match="taken is a file"):
        _run(tmp_path / "taken")


def test_results_are_stored_as_plain_numbers(tmp_path):
    values = _run(tmp_path).results.values["made"][0]
    assert values == json.loads((tmp_path / "tasks" / "made-000.json").read_text())["values"]
    assert isinstance(values["curve"], list)
    assert values["nothing"] is None


def test_mean_and_sample_deviation():
    results = Results(
        {"a": [{"x": 1, "c": [1, 2]}, {"x": 4, "c": [3, 4]}, {"x": None, "c": [0, 0]}]}
    )
    row = results.row("a", "x", keys=("a",), paper=2.0)
    assert (row.ours, row.runs, row.difference) == (2.5, 2, 0.5)
    assert row.std == pytest.approx(np.std([1, 4], ddof=1))
    largest = results.row("a", "x", keys=("a",), statistic=np.max)
    assert (largest.ours, largest.std, largest.difference) == (4, None, None)
    assert results.numbers("a", "c").shape == (3, 2)
    assert results.row("b", "x", keys=("b",)) == Row(("b",), note="not run")


ROWS = [
    Row(("one", "A"), 0.5, 0.75, 0.125, 4, paper_std=0.25),
    Row(("one", "B"), None, 2.0, None, 4),
    Row(("two", "A"), 0.25, None, note="no data | at all"),
]


def test_table_in_files():
    lines = list(csv.DictReader(Table("t", "T", ("set", "method"), ROWS).to_csv().splitlines()))
    assert lines[0] == {
        "set": "one",
        "method": "A",
        "paper": "0.5",
        "paper std": "0.25",
        "ours": "0.75",
        "ours std": "0.125",
        "difference": "0.25",
        "runs": "4",
        "note": "",
    }
    assert lines[1]["paper"] == lines[1]["difference"] == lines[2]["ours"] == ""


def test_table_for_people():
    text = Table("t", "T", ("set", "method"), ROWS, digits=2, notes=["Look."]).to_markdown()
    assert text == (
        "## T\n\n"
        "| set | method | paper | ours | difference | note |\n"
        "| --- | --- | ---: | ---: | ---: | --- |\n"
        "| one | A | 0.50 ± 0.25 | 0.75 ± 0.12 | +0.25 |  |\n"
        "| one | B | – | 2.00 | – |  |\n"
        "| two | A | 0.25 | – | – | no data \\| at all |\n"
        "\nLook.\n"
    )


def test_table_spread_over_columns():
    headings, lines = Table("t", "T", ("set", "method"), ROWS, across=True).cells()
    assert headings == ["set", "A, paper", "ours", "difference", "B, ours", "note"]
    assert lines[0] == ["one", "0.500 ± 0.250", "0.750 ± 0.125", "+0.250", "2.000", ""]
    assert lines[1] == ["two", "0.250", "–", "–", "–", "no data | at all"]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_paper_has_an_experiment(name):
    experiment = get_experiment(name)
    assert experiment.name == name
    assert experiment.tasks(quick=True)
    if name not in ("quality", "study"):  # our own, with no paper to print their numbers
        assert published(EXPERIMENTS[name].module)


def test_unknown_paper():
    with pytest.raises(ValueError, match=r"paper must be one of laca.*got 'lca'"):
        get_experiment("lca")


def test_objects_are_drawn_from_each_class():
    y = np.repeat([0, 1, 2], [5, 9, 7])
    kept = draw_per_class(y, 5, np.random.default_rng(0))
    assert np.bincount(y[kept]).tolist() == [5, 5, 5]
    assert (np.diff(kept) > 0).all()
    assert not np.array_equal(kept, draw_per_class(y, 5, np.random.default_rng(1)))


def test_values_by_tenth():
    values = np.array([0.0, 0.05, 0.1, 0.99, 1.0])
    assert by_tenth(values).tolist() == [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    assert by_tenth(values, values)[[0, 9]] == pytest.approx([0.05, 1.99])


def test_rows_of_parts_and_columns():
    results = Results({"a": [{"x": 1.0}, {"x": 3.0}]}, {"b": "no data"})
    printed = {("A", "X"): 2.5, ("A", "X std"): 0.5}
    rows = results.rows(
        {"a": "A", "b": "B", "c": "C"}, {"x": "X"}, paper=lambda *place: printed.get(place)
    )
    assert [row.keys for row in rows] == [("A", "X"), ("B", "X")]  # c was not asked for
    assert (rows[0].paper, rows[0].paper_std, rows[0].ours) == (2.5, 0.5, 2.0)
    assert (rows[1].ours, rows[1].note) == (None, "no data")
