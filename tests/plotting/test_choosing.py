"""Pictures for choosing: what is computed is tested without drawing, and each is drawn once."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from coterie import Ensemble, compare, how_many_clusters, plotting
from coterie.choosing import mean_ranks
from coterie.views._curves import calibration_curve, scaled_criteria
from strategies import noisy_labels


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(0)
    X = np.repeat([[0, 0], [9, 0], [0, 9]], 20, axis=0) + rng.normal(size=(60, 2))
    return how_many_clusters(X, range(2, 13), n_runs=4, random_state=0)


@pytest.fixture(scope="module")
def comparison():
    _, labels = noisy_labels(0, 40, 8, n_clusters=3, noise=0.3)
    return compare(Ensemble(labels), methods=["eac", "laca", "voting"], n_clusters=3, stability=0)


def axes():
    return Figure(figsize=(80 / 25.4, 2.2), layout="constrained").add_subplot()


def drawn(ax):
    """Draw in full, so that nothing is left to fail later."""
    ax.figure.canvas.draw()
    return ax


def test_criteria_are_scaled_so_that_one_is_best(numbers):
    scaled = scaled_criteria(numbers)
    assert "area" not in scaled
    for name, values in scaled.items():
        known = values[np.isfinite(values)]
        assert known.min() >= 0
        assert known.max() == 1
        raw = numbers.criteria[name]
        best = np.nanargmin(raw) if name == "pac" else np.nanargmax(raw)
        assert scaled[name][best] == 1


def test_n_clusters(numbers):
    ax = drawn(plotting.plot_n_clusters(numbers, ax=axes()))
    assert [t.get_text() for t in ax.get_yticklabels()][:2] == ["score", "silhouette"]
    frame = ax.patches[0]
    assert frame.get_x() + 0.5 == numbers.n_clusters.tolist().index(numbers.recommended)


def test_consensus_cdf(numbers):
    ax = drawn(plotting.plot_consensus_cdf(numbers, ax=axes(), most=3))
    curves = [line for line in ax.lines if len(line.get_xdata()) == 101]
    assert len(curves) == 3
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"{numbers.recommended} *" in names


def test_delta_area(numbers):
    ax = drawn(plotting.plot_delta_area(numbers, ax=axes()))
    assert ax.lines[0].get_ydata().tolist() == numbers.criteria["delta_area"].tolist()


@pytest.mark.parametrize("plot", [plotting.plot_consensus_cdf, plotting.plot_delta_area])
def test_plots_of_runs_say_that_there_are_none(plot):
    labels = noisy_labels(0, 40, 8, n_clusters=3)[1]
    numbers = how_many_clusters(Ensemble(labels), range(2, 5), structure=False, random_state=0)
    with pytest.raises(ValueError, match="n_runs=20"):
        plot(numbers)


def test_agreement(comparison):
    ax = drawn(plotting.plot_agreement(comparison, ax=axes()))
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert f"{comparison.recommended} *" in names
    assert len(ax.texts) == 9


def test_critical_differences():
    rng = np.random.default_rng(0)
    scores = rng.random((12, 5)) + np.linspace(0, 2, 5)
    ranks = mean_ranks(scores, list("abcde"))
    ax = drawn(plotting.plot_critical_differences(ranks, ax=axes()))
    words = " ".join(text.get_text() for text in ax.texts)
    assert "critical difference" in words
    assert all(name in words for name in "abcde")


def test_calibration_curve_worked_by_hand():
    curve = calibration_curve([0, 20, 4, 40], [0, 10, 4, 40])
    assert curve.confidence.tolist() == [0.375, 0.875]
    assert curve.right.tolist() == [0.5, 1.0]
    assert curve.counts.tolist() == [20, 40]


@pytest.mark.parametrize("n_methods", [1, 3, 12])
def test_calibration(n_methods):
    counts = {f"m{i}": ([20] * 10, range(2, 22, 2)) for i in range(n_methods)}
    ax = drawn(plotting.plot_calibration(counts, ax=axes()))
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert ("m0" in names) == (n_methods <= 8)
    assert ("all" in names) == (n_methods > 1)


def test_new_figure_without_axes(numbers):
    import matplotlib.pyplot as plt

    ax = plotting.plot_delta_area(numbers)
    assert ax.figure.get_size_inches()[0] > 2
    plt.close(ax.figure)
