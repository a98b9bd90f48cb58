"""The experiment of the paper on PEACE."""

import numpy as np
import pytest

from coterie.datasets import Dataset
from coterie.experiments import peace, published
from coterie.experiments._run import run_experiment

pytestmark = pytest.mark.slow


def test_published_numbers_are_those_of_the_paper():
    paper = published("peace")
    assert paper.rows("1") == list(peace.SETS)
    assert paper["1", "optdigits", "objects"] == 1000
    assert paper["2", "E1a webkd", "PEACE max"] == 0.492
    assert paper["3", "E1b miniN", "PEACE selected"] == 0.853
    assert paper["3", "E1b webkd", "BE min"] == 0.530
    # Two numbers of one row of Table 3 cannot be read in our copy.
    assert len(paper) == 9 * 2 + 2 * 4 * 2 * 5 - 2


def test_ensembles_of_many_algorithms():
    X = np.random.default_rng(0).normal(size=(50, 3))
    ensemble = peace.many_algorithms(X, [2, 4], np.random.default_rng(0))
    assert ensemble.n_partitions == 12
    assert ((ensemble.labels < 0).sum(axis=0) == 5).all()
    assert ensemble.n_clusters[ensemble.groups == "k-means"].tolist() == [2, 4]
    assert len(set(ensemble.groups)) == 6


def test_newsgroups_are_those_of_the_paper():
    assert len(peace.NEWSGROUPS) == 20
    kept = [name for name in peace.NEWSGROUPS if name not in peace.DROPPED]
    assert len(kept) == 17
    assert len(set(kept)) == 7


def test_text_features():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.7, size=(40, 30)).astype(float)
    target = np.arange(40) % 20
    words = tuple(f"w{i}" for i in range(30))
    texts = Dataset("texts", counts, target, words, tuple(map(str, range(20))), "")
    X, y = peace.text_features(texts, "miniN", 10, 12)
    assert X.shape == (34, 12)
    assert len(np.unique(y)) == 7
    length = np.linalg.norm(X, axis=1)
    assert length[length > 0] == pytest.approx(1.0)


def test_a_small_run(tmp_path):
    only = ["spiral (1)", "spiral (2)", "image-c (1)"]
    report = run_experiment(peace.EXPERIMENT, tmp_path, quick=True, only=only, n_jobs=1)
    assert {file.name for file in report.files} >= {"figure-2.png", "figure-3.png", "tables.md"}
    for part in only:
        for method in peace.METHODS:
            assert 0 < report.results.numbers(part, f"{method}_ci")[0] <= 1
    assert len(report.results.values["image-c (1)"][0]["picture"]) == peace.PIXELS
