"""``coterie monti`` as users call it."""

import json

import numpy as np
import polars as pl
import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from coterie import ConsensusPerK


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6)) + np.repeat(6 * np.eye(6)[:3], 10, axis=0)
    frame = pl.DataFrame({f"g{j}": X[:, j] for j in range(6)}).with_columns(
        pl.Series("name", [f"s{i}" for i in range(29)] + ["=s29"]),
        pl.Series("class", np.repeat(["<b>", "y", "z"], 10)),
        pl.Series("age", rng.integers(20, 80, 30)),
    )
    path = tmp_path / "table.csv"
    frame.write_csv(path)
    return path


GIVEN = ("--id", "name", "--truth", "class", "--annotate", "age", "--max-k", 4, "--resamples", 10)


def test_tables_are_those_of_the_library(run, table, tmp_path):
    folder = tmp_path / "out"
    result = run("monti", table, "-o", folder, *GIVEN, "--distance", "pearson", "--matrices")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("3 clusters")
    frame = pl.read_csv(table)
    X = frame.select(f"g{j}" for j in range(6)).to_numpy()
    model = ConsensusPerK(None, [2, 3, 4], 10, distance="pearson", random_state=0).fit(X)
    read = {path.stem: pl.read_csv(path) for path in folder.glob("*.csv")}
    assert read["classes"]["k=3"].to_list() == model.labels_[3].tolist()
    assert read["classes"]["item"][0] == "s0"
    assert read["classes"]["item"][29] == "'=s29"
    assert read["numbers"]["pac"].to_list() == pytest.approx(list(model.pac_.values()), abs=1e-6)
    found = read["item_consensus"].filter((pl.col("k") == 3) & (pl.col("cluster") == 1))
    assert found["item_consensus"].to_list() == pytest.approx(
        model.item_consensus(3)[:, 1].tolist(), abs=1e-6
    )
    clusters = read["cluster_consensus"].filter(pl.col("k") == 3)
    assert clusters["size"].to_list() == np.bincount(model.labels_[3]).tolist()
    assert read["cdf"]["k=2"].to_list() == pytest.approx(model.cdf(2).tolist(), abs=1e-6)
    matrix = read["consensus_matrix_k=3"].drop("item").to_numpy()
    assert matrix == pytest.approx(model.consensus_matrix(3), abs=1e-6)
    page = (folder / "report.html").read_text()
    assert page.count("data:image/png") == 7 + 3
    assert "<b>" not in page
    assert "3 clusters in table.csv" in page


def test_json_and_noise(run, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "noise.npy", rng.normal(size=(60, 4)))
    given = ("--max-k", 3, "--resamples", 5, "--null", 1, "--json", "-q")
    result = run("monti", "noise.npy", "-o", "out", *given)
    summary = json.loads(result.stdout)
    assert summary["has_clusters"] is False
    assert summary["numbers"]["rcsi"][0] is not None
    page = (tmp_path / "out" / "report.html").read_text()
    assert "No clusters found in noise.npy" in page
    assert "No clusters were found" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--distance", "pierson"), "--distance must be 'pearson'"),
        (("--annotate", "agee"), "Did you mean 'age'?"),
        (("--estimator", "kmeans", "--distance", "pearson"), "works on features"),
        (("--max-samples", "x"), "--max-samples must be a share"),
        (("--distance", "precomputed"), "square matrix"),
        (("--transpose",), "--annotate names columns"),
    ],
)
def test_bad_input_is_one_line(run, table, tmp_path, words, message):
    result = run("monti", table, "-o", tmp_path / "out", *GIVEN, *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


def test_the_output_must_be_a_folder(run, table):
    result = run("monti", table, "-o", table)
    assert result.exit_code == 2
    assert "is a file" in result.stderr
