"""Data sets by name, and the generators against what the papers print about them."""

import gzip
import os
import subprocess
import sys
from dataclasses import FrozenInstanceError
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pytest
import sklearn.datasets
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.io import savemat
from scipy.spatial.distance import squareform
from sklearn.cluster import KMeans

from coterie import datasets
from coterie.datasets import available, load

SIZES = {  # class sizes, and outliers
    "make_cigar": ([100, 100, 25, 25], 0),
    "make_complex_image": ([200, 200, 100, 100, 50, 50, 33], 10),  # paper 4, table 1
    "make_half_rings": ([100, 300], 0),  # Fred and Jain 2002, section 3.1
    "make_noisy_classes": ([25, 25, 25, 25], 0),  # paper 2, section 5
    "make_three_gaussian": ([300, 300, 300], 0),  # paper 5, table I
    "make_three_paths": ([200, 200, 200], 200),  # paper 4, table 1
    "make_two_gaussian": ([300, 300], 0),  # paper 5, table I
    "make_two_spirals": ([100, 100], 0),  # paper 4, table 1
}
MAKERS = [getattr(datasets, name) for name in SIZES]

_beside = Path(__file__).parents[2].parent / "shared" / "data"
DATA = Path(os.environ["COTERIE_DATA"]) if os.environ.get("COTERIE_DATA") else _beside
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="COTERIE_DATA is not set and no shared/data stands beside the project"
)


@pytest.fixture(autouse=True)
def _no_data_folder(monkeypatch):
    monkeypatch.delenv("COTERIE_DATA", raising=False)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plain.csv").write_text("a,b,label\n1,2.5,0\n,0.1,1\nNA,-3e-5,1\n")
    with gzip.open(tmp_path / "packed.csv.gz", "wt") as file:
        file.write("a,label\n0.30000000000000004,yes\n1e308,no\n")
    (tmp_path / "notes.txt").write_text("not data")
    (tmp_path / "folder.csv").mkdir()
    return tmp_path


def sizes_of(y):
    return np.bincount(y[y >= 0]).tolist(), int(np.sum(y == -1))


def purity_of_two(y, labels):
    """Share of objects on the right side, for two clusters and two classes."""
    agree = np.mean(np.unique(labels, return_inverse=True)[1] == y)
    return max(agree, 1 - agree)


# Generators: what they share


@pytest.mark.parametrize("make", MAKERS)
def test_default_sizes_and_types(make):
    X, y = make(random_state=0)
    assert sizes_of(y) == SIZES[make.__name__]
    assert X.shape == (len(y), 16 if make is datasets.make_noisy_classes else 2)
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert np.isfinite(X).all()


@pytest.mark.parametrize("make", MAKERS)
def test_classes_follow_each_other_and_outliers_come_last(make):
    _, y = make(random_state=0)
    assert_array_equal(y, np.concatenate([np.sort(y[y >= 0]), y[y < 0]]))


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "seed", [lambda: 7, lambda: np.random.default_rng(7), lambda: np.random.RandomState(7)]
)
def test_same_seed_same_set(make, seed):
    for one, two in zip(make(random_state=seed()), make(random_state=seed()), strict=True):
        assert_array_equal(one, two)


@pytest.mark.parametrize("make", MAKERS)
def test_other_seed_other_set(make):
    assert not np.array_equal(make(random_state=0)[0], make(random_state=1)[0])
    assert not np.array_equal(make()[0], make()[0])


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
def test_a_generator_is_advanced(source):
    rng = source(0)
    first, _ = datasets.make_two_gaussian(random_state=rng)
    second, _ = datasets.make_two_gaussian(random_state=rng)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("make", MAKERS)
def test_shuffle_changes_only_the_order(make):
    X, y = make(random_state=3)
    mixed, labels = make(shuffle=True, random_state=3)
    assert not np.array_equal(y, labels)
    rows = np.column_stack([X, y])
    mixed_rows = np.column_stack([mixed, labels])
    assert_array_equal(rows[np.lexsort(rows.T)], mixed_rows[np.lexsort(mixed_rows.T)])


@pytest.mark.parametrize("make", MAKERS)
def test_n_samples_is_the_number_of_rows(make):
    for n_samples in (301, 1000):
        X, y = make(n_samples, random_state=0)
        assert len(X) == len(y) == n_samples


@pytest.mark.parametrize("make", MAKERS)
def test_sizes_of_classes_can_be_given(make):
    wanted = list(range(5, 5 + len(SIZES[make.__name__][0])))
    for sizes in (wanted, tuple(wanted), np.array(wanted)):
        _, y = make(sizes, random_state=0)
        assert sizes_of(y) == (wanted, SIZES[make.__name__][1])


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"n_samples": 0}, ValueError, "n_samples must leave at least one object"),
        ({"n_samples": -5}, ValueError, "n_samples must leave at least one object"),
        ({"n_samples": 20.0}, TypeError, r"n_samples must be an integer or a sequence.*20\.0"),
        ({"n_samples": True}, TypeError, "n_samples must be an integer"),
        ({"n_samples": "20"}, TypeError, "n_samples must be an integer"),
        ({"n_samples": [3]}, ValueError, "n_samples .* one size for each .* got 1 sizes"),
        ({"random_state": "0"}, TypeError, "random_state must be None, an integer"),
        ({"random_state": -1}, ValueError, "random_state must be 0 or larger; got -1"),
    ],
)
def test_errors_name_parameter_and_rule(make, options, error, words):
    with pytest.raises(error, match=words):
        make(**options)


@pytest.mark.parametrize(
    ("make", "options", "error", "words"),
    [
        (datasets.make_two_gaussian, {"n_samples": (5, 0)}, ValueError, r"n_samples\[1\] must be"),
        (datasets.make_two_gaussian, {"n_samples": (5, 1.5)}, TypeError, r"n_samples\[1\] must be"),
        (datasets.make_two_spirals, {"noise": -0.1}, ValueError, "noise must be finite and 0"),
        (datasets.make_cigar, {"noise": float("nan")}, ValueError, "noise must be finite and 0"),
        (datasets.make_half_rings, {"noise": "a"}, TypeError, "noise must be a number; got 'a'"),
        (datasets.make_two_spirals, {"spacing": "even"}, ValueError, "'length' or 'angle'"),
        (datasets.make_noisy_classes, {"n_noise": 17}, ValueError, "between 0 and 16; got 17"),
        (datasets.make_noisy_classes, {"n_noise": 1.0}, TypeError, "n_noise must be an integer"),
        (datasets.make_noisy_classes, {"n_features": 0}, ValueError, "n_features must be 1 or"),
        (datasets.make_three_paths, {"n_outliers": -1}, ValueError, "n_outliers must be 0 or"),
        (datasets.make_three_paths, {"n_samples": 200}, ValueError, "classes and 200 outliers"),
    ],
)
def test_errors_of_single_generators(make, options, error, words):
    with pytest.raises(error, match=words):
        make(**options)


# Generators: against the papers


def test_gaussians_have_the_means_and_variances_of_paper_5():
    # Section 5 and 6; the printed "standard deviations" are variances.
    for make, means, variances in [
        (datasets.make_two_gaussian, [(0.5, 5), (12, 5)], [(1, 9), (6, 2)]),
        (
            datasets.make_three_gaussian,
            [(2, 5), (12, 5), (23, 5)],
            [(1, 9), (6, 2), (1, 9)],
        ),
    ]:
        X, y = make(60_000, random_state=0)
        for label, (mean, variance) in enumerate(zip(means, variances, strict=True)):
            members = X[y == label]
            assert_allclose(members.mean(axis=0), mean, atol=0.1)
            assert_allclose(members.var(axis=0), variance, rtol=0.05)
            assert abs(np.corrcoef(members.T)[0, 1]) < 0.03


@pytest.mark.slow
def test_kmeans_errs_on_about_one_percent_of_three_gaussian():
    # Paper 5, table IV: average error of k-means 1.17 %.
    errors = []
    for seed in range(5):
        X, y = datasets.make_three_gaussian(random_state=seed)
        found = KMeans(3, n_init=3, random_state=0).fit(X)
        rank = np.argsort(np.argsort(found.cluster_centers_[:, 0]))
        errors.append(np.mean(rank[found.labels_] != y))
    assert 0.005 < np.mean(errors) < 0.02


def test_noisy_classes_follow_section_5_of_paper_2():
    X, y = datasets.make_noisy_classes(8_000, random_state=0)
    for label, centre in [(0, 0), (1, 6)]:
        members = X[y == label]
        assert_allclose(members.mean(axis=0), centre, atol=0.1)
        assert_allclose(np.cov(members.T), np.eye(16), atol=0.15)
    start = np.tile([-6.0, 6.0], 8)
    for label, first in [(2, start), (3, -start)]:
        members = X[y == label]
        assert_allclose(members[0], first, atol=0.5)  # 5 standard deviations of 0.1
        steps = np.diff(members, axis=0)
        assert_allclose(steps.mean(axis=0), 0.25, atol=0.03)
        assert_allclose(steps.std(axis=0), 0.25, rtol=0.1)
        assert_allclose(np.corrcoef(steps.T), np.eye(16), atol=0.1)


def test_first_objects_of_the_chains_vary_by_a_tenth():
    start = np.tile([-6.0, 6.0], 8)
    firsts = []
    for seed in range(100):
        X, _ = datasets.make_noisy_classes(4, random_state=seed)
        firsts += [X[2] - start, X[3] + start]
    assert_allclose(np.std(firsts), 0.1, rtol=0.1)


def test_noise_features_are_uniform_over_the_range_of_the_feature():
    clean, _ = datasets.make_noisy_classes(2_000, random_state=5)
    noisy, _ = datasets.make_noisy_classes(2_000, n_noise=4, random_state=5)
    changed = np.flatnonzero((clean != noisy).any(axis=0))
    assert len(changed) == 4
    for feature in changed:
        low, high = clean[:, feature].min(), clean[:, feature].max()
        place = (noisy[:, feature] - low) / (high - low)
        assert place.min() >= 0
        assert place.max() <= 1
        counts, _ = np.histogram(place, bins=10, range=(0, 1))
        assert_allclose(counts, 200, atol=5 * np.sqrt(200))


def test_which_features_are_noise_is_left_to_chance():
    def noise_features(seed):
        clean, _ = datasets.make_noisy_classes(random_state=seed)
        noisy, _ = datasets.make_noisy_classes(n_noise=4, random_state=seed)
        return tuple(np.flatnonzero((clean != noisy).any(axis=0)))

    assert len({noise_features(seed) for seed in range(10)}) > 5


def test_more_noise_keeps_the_noise_there_was():
    sets = [datasets.make_noisy_classes(n_noise=n, random_state=1)[0] for n in range(17)]
    for n, (less, more) in enumerate(pairwise(sets)):
        assert np.sum((less != more).any(axis=0)) == 1
        assert np.sum((sets[0] != less).any(axis=0)) == n


def test_spirals_lie_on_r_equals_t():
    for spacing in ("length", "angle"):
        X, y = datasets.make_two_spirals(noise=0, spacing=spacing)
        radius = np.hypot(*X.T)
        assert_allclose(radius[[0, 99, 100, 199]], np.pi * np.array([0.5, 3.5, 0.5, 3.5]))
        assert_allclose(X[y == 0], -X[y == 1])
        assert_allclose(X[:, 0] * np.where(y == 0, 1, -1), radius * np.cos(radius), atol=1e-9)
    steps = np.linalg.norm(np.diff(datasets.make_two_spirals(noise=0)[0][:100], axis=0), axis=1)
    assert_allclose(steps, steps.mean(), rtol=0.02)


def test_noise_is_the_standard_deviation():
    exact, _ = datasets.make_two_spirals(5_000, noise=0)
    noisy, _ = datasets.make_two_spirals(5_000, noise=0.3, random_state=0)
    assert_allclose(np.std(noisy - exact), 0.3, rtol=0.03)


def separated_by_evidence_accumulation(X, y, n_clusters, n_partitions=30):
    """Share of objects right after single linkage on the co-association of k-means partitions."""
    together = np.zeros((len(X), len(X)))
    for seed in range(n_partitions):
        labels = KMeans(n_clusters, init="random", n_init=1, random_state=seed).fit_predict(X)
        together += np.equal.outer(labels, labels)
    tree = linkage(squareform(1 - together / n_partitions, checks=False), "single")
    return purity_of_two(y, fcluster(tree, 2, "maxclust"))


@pytest.mark.parametrize("seed", [0, 1])
def test_spirals_come_apart_in_an_ensemble_but_not_in_kmeans(seed):
    # Paper 4, table 2: EAC-SL 0, k-means .399; 30 partitions of 60 clusters.
    X, y = datasets.make_two_spirals(random_state=seed)
    assert separated_by_evidence_accumulation(X, y, 60) == 1
    assert purity_of_two(y, KMeans(2, n_init=5, random_state=0).fit_predict(X)) < 0.7


@pytest.mark.slow
def test_half_rings_come_apart_in_an_ensemble_but_not_in_kmeans():
    # Fred and Jain 2002, section 3.1: k = 15 recovers them.
    X, y = datasets.make_half_rings(random_state=0)
    assert separated_by_evidence_accumulation(X, y, 15) == 1
    assert purity_of_two(y, KMeans(2, n_init=5, random_state=0).fit_predict(X)) < 0.9


def test_half_rings_lie_above_and_below():
    X, y = datasets.make_half_rings(noise=0, random_state=0)
    assert_allclose(np.linalg.norm(X[y == 0], axis=1), 1)
    assert_allclose(np.linalg.norm(X[y == 1] - [1, 0], axis=1), 1)
    assert X[y == 0, 1].min() >= 0 >= X[y == 1, 1].max()


def test_cigars_are_long_and_the_others_round():
    X, y = datasets.make_cigar(5_000, random_state=0)
    spread = np.array([X[y == label].std(axis=0) for label in range(4)])
    assert (spread[:2, 0] / spread[:2, 1] > 10).all()
    assert_allclose(spread[2:, 0] / spread[2:, 1], 1, atol=0.1)


def test_outliers_of_three_paths_fill_the_square():
    X, y = datasets.make_three_paths(4_000, n_outliers=2_000, random_state=0)
    outliers = X[y == -1]
    assert len(outliers) == 2_000
    counts, *_ = np.histogram2d(*outliers.T, bins=4, range=[(-5.5, 5.5)] * 2)
    assert counts.sum() == 2_000
    assert_allclose(counts, 125, atol=5 * np.sqrt(125))


def test_paths_are_turned_copies_without_gaps():
    X, y = datasets.make_three_paths(600, n_outliers=0, noise=0, random_state=0)
    for path in range(3):
        radius = np.linalg.norm(X[y == path], axis=1)
        assert 1.5 <= radius.min() < 1.6
        assert 4.9 < radius.max() <= 5.0
        steps = np.linalg.norm(np.diff(X[y == path], axis=0), axis=1)
        assert steps.max() < 0.12
    angle = np.unwrap(np.arctan2(X[y == 0, 1], X[y == 0, 0]))
    assert_allclose(np.rad2deg(np.ptp(angle)), 140, atol=2)


def test_shapes_of_the_complex_image_keep_apart():
    X, y = datasets.make_complex_image(random_state=0)
    for label in range(7):
        others = X[(y >= 0) & (y != label)]
        gap = np.linalg.norm(X[y == label][:, np.newaxis] - others, axis=2).min()
        assert gap > 0.2
    assert_allclose(np.linalg.norm(X[y == -1], axis=1), 3.3)


def test_complex_image_in_the_size_of_paper_3():
    _, y = datasets.make_complex_image(739, n_outliers=6, random_state=0)
    assert sizes_of(y) == (SIZES["make_complex_image"][0], 6)
    _, y = datasets.make_complex_image(733, n_outliers=0, random_state=0)
    assert sizes_of(y) == (SIZES["make_complex_image"][0], 0)


# Loading


def test_load_from_a_directory(folder):
    plain = load("plain", folder)
    assert_array_equal(plain.data, [[1, 2.5], [np.nan, 0.1], [np.nan, -3e-5]])
    assert_array_equal(plain.target, [0, 1, 1])
    assert plain.target.dtype == np.int64
    assert plain.feature_names == ("a", "b")
    assert plain.target_names == ("0", "1")
    assert plain.name == "plain"
    assert "plain.csv" in plain.description
    assert str(folder) not in plain.description


def test_load_compressed_with_words_as_labels(folder):
    packed = load("packed", str(folder))
    assert packed.data.ravel().tolist() == [0.30000000000000004, 1e308]
    assert packed.target_names == ("no", "yes")
    assert_array_equal(packed.target, [1, 0])


def test_load_from_the_environment(folder, monkeypatch):
    monkeypatch.setenv("COTERIE_DATA", str(folder))
    assert load("plain").data.shape == (3, 2)
    assert "packed" in available()


def test_directory_goes_before_environment(folder, tmp_path_factory, monkeypatch):
    other = tmp_path_factory.mktemp("other")
    (other / "plain.csv").write_text("a,label\n9,0\n")
    monkeypatch.setenv("COTERIE_DATA", str(other))
    assert load("plain").data.shape == (1, 1)
    assert load("plain", folder).data.shape == (3, 2)


def test_files_go_before_what_scikit_learn_ships(folder):
    (folder / "iris.csv").write_text("a,label\n9,0\n")
    assert load("iris", folder).data.shape == (1, 1)
    assert load("iris").data.shape == (150, 4)


def test_values_are_exact(tmp_path):
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.normal(size=500), 10 ** rng.uniform(-300, 300, size=500)])
    lines = [f"{value!r},0" for value in values.tolist()]
    (tmp_path / "exact.csv").write_text("a,label\n" + "\n".join(lines))
    assert_array_equal(load("exact", tmp_path).data.ravel(), values)


def test_a_column_may_turn_to_decimals_late(tmp_path):
    lines = ["1,0"] * 20_000 + ["0.5,0"]
    (tmp_path / "late.csv").write_text("a,label\n" + "\n".join(lines))
    assert load("late", tmp_path).data[-1, 0] == 0.5


@pytest.mark.parametrize(
    ("labels", "target", "names"),
    [
        (["10", "9", "10"], [1, 0, 1], ("9", "10")),  # by value, not as text
        (["2.0", "1", "2"], [1, 0, 1], ("1", "2")),
        (["0", "-1", "1"], [0, -1, 1], ("0", "1")),  # outlier
        (["0", "", "1"], [0, -1, 1], ("0", "1")),  # unknown
        (["b", "", "10"], [1, -1, 0], ("10", "b")),
    ],
)
def test_labels_become_class_numbers(tmp_path, labels, target, names):
    (tmp_path / "some.csv").write_text("a,label\n" + "\n".join(f"1,{text}" for text in labels))
    some = load("some", tmp_path)
    assert_array_equal(some.target, target)
    assert some.target_names == names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "last column 'label'.* got 2 columns, the last 'b'"),
        ("label\n1\n", "at least one feature"),
        ("a,label\n", "no objects"),
        ("", "is empty"),
        ("a,b,label\n1,2,0\n1,red,0\n", "column 'b' holds 'red' for object 1"),
        ("a,label\n1,0\n1,2,3,0\n", "cannot be read"),
    ],
)
def test_bad_files_are_named(tmp_path, text, words):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(ValueError, match=words) as caught:
        load("bad", tmp_path)
    assert "bad.csv" in str(caught.value)


def test_pools_of_clusterings_are_read_from_matlab_files(tmp_path):
    members, classes = np.array([[1, 2], [1, 3], [2, 3]]), np.array([[2], [2], [10]])
    savemat(tmp_path / "pool.mat", {"members": members, "gt": classes})
    assert "pool" in available(tmp_path)
    pool = load("pool", tmp_path)
    np.testing.assert_array_equal(pool.data, members)
    assert pool.target.tolist() == [0, 0, 1]
    assert pool.target_names == ("2", "10")


def test_a_pool_without_classes_is_refused(tmp_path):
    savemat(tmp_path / "pool.mat", {"members": np.array([[1, 2], [1, 3], [2, 3]])})
    with pytest.raises(ValueError, match=r"pool\.mat must hold one vector, the classes; .* none"):
        load("pool", tmp_path)


def test_a_damaged_archive_is_named(folder):
    path = folder / "packed.csv.gz"
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(ValueError, match=r"packed\.csv\.gz cannot be read"):
        load("packed", folder)


@pytest.mark.parametrize(
    ("name", "shape", "classes"),
    [
        ("iris", (150, 4), 3),
        ("wine", (178, 13), 3),
        ("wdbc", (569, 30), 2),
        ("digits", (1797, 64), 10),
        ("optdigits_test", (1797, 64), 10),
    ],
)
def test_load_what_scikit_learn_ships(name, shape, classes):
    shipped = load(name)
    assert shipped.data.shape == shape
    assert len(shipped.feature_names) == shape[1]
    assert len(shipped.target_names) == classes == len(np.unique(shipped.target))
    assert all(type(text) is str for text in shipped.feature_names + shipped.target_names)
    assert repr(shipped) == (
        f"Dataset({name!r}, {shape[0]} objects, {shape[1]} features, {classes} classes)"
    )


@pytest.mark.parametrize("make", MAKERS)
def test_load_synthetic_sets_by_name(make):
    name = make.__name__.removeprefix("make_")
    first, second = load(name), load(name)
    assert_array_equal(first.data, second.data)
    assert sizes_of(first.target) == SIZES[make.__name__]
    assert len(first.target_names) == len(SIZES[make.__name__][0])
    assert len(first.feature_names) == first.data.shape[1]
    assert "random_state=0" in first.description


def test_dataset_is_immutable(folder):
    with pytest.raises(FrozenInstanceError):
        load("plain", folder).name = "other"


def test_available_lists_files_shipped_and_made(folder):
    names = available(folder)
    assert {"plain", "packed", "iris", "wdbc", "two_spirals"} <= set(names)
    assert not {"notes", "folder"} & set(names)
    assert names == sorted(set(names))
    assert "plain" not in available()


def test_every_available_name_loads(folder):
    for name in available(folder):
        assert load(name, folder).name == name


def test_unknown_name_says_what_to_do(folder):
    with pytest.raises(ValueError, match="No data set is called 'plane'") as caught:
        load("plane", folder, download=False)
    message = str(caught.value)
    for words in ("Did you mean 'plain'", str(folder), "COTERIE_DATA", "directory", "available()"):
        assert words in message


def test_unknown_name_without_a_folder():
    with pytest.raises(ValueError, match="COTERIE_DATA") as caught:
        load("Two-Spiral", download=False)
    assert "'two_spirals'" in str(caught.value)
    with pytest.raises(ValueError, match="xyzzy") as caught:
        load("xyzzy", download=False)
    assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "../plain", "a\\b", "/etc/passwd", ".hidden"])
def test_a_path_is_no_name(folder, name):
    with pytest.raises(ValueError, match="not a path"):
        load(name, folder)


def test_name_must_be_text():
    with pytest.raises(TypeError, match="name must be a string; got 3"):
        load(3)


def test_missing_folders_are_named(tmp_path, monkeypatch):
    with pytest.raises(NotADirectoryError, match=r"directory must name a folder.*nowhere"):
        load("iris", tmp_path / "nowhere")
    monkeypatch.setenv("COTERIE_DATA", str(tmp_path / "gone"))
    with pytest.raises(NotADirectoryError, match=r"COTERIE_DATA must name a folder.*gone"):
        available()
    monkeypatch.setenv("COTERIE_DATA", "")
    assert "iris" in available()


# OpenML, without a network


def test_nothing_is_downloaded_when_forbidden(monkeypatch):
    def refuse(**options):
        raise AssertionError("asked the network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
    with pytest.raises(ValueError, match="download=True"):
        load("glass-that-is-not-there", download=False)


def test_download(monkeypatch):
    def fetch(*, name, **options):
        assert name == "balance-scale"
        return SimpleNamespace(
            data=np.array([[1, 2], [3, 4], [5, 6]]),
            target=np.array(["L", "B", None], dtype=object),
            feature_names=["x", "y"],
            details={"id": "11"},
        )

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    fetched = load("balance-scale")
    assert fetched.data.dtype == np.float64
    assert_array_equal(fetched.target, [1, 0, -1])
    assert fetched.target_names == ("B", "L")
    assert "11" in fetched.description


@pytest.mark.parametrize(
    ("trouble", "error", "words"),
    [
        (URLError("no route"), ConnectionError, "could not be downloaded.*no route"),
        (ValueError("No known set"), ValueError, "OpenML has no data set 'glas'"),
    ],
)
def test_failed_download_says_what_to_do(folder, monkeypatch, trouble, error, words):
    def fail(**options):
        raise trouble

    (folder / "glass.csv").write_text("a,label\n1,0\n")
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fail)
    with pytest.raises(error, match=words) as caught:
        load("glas", folder)
    for words in (str(folder), "COTERIE_DATA", "'glass'"):
        assert words in str(caught.value)


# The benchmark files


@needs_data
@pytest.mark.parametrize(
    ("name", "shape", "sizes"),
    [
        ("glass", (214, 9), [70, 76, 17, 13, 9, 29]),
        ("yeast_cell_cycle", (384, 17), [67, 135, 75, 52, 55]),
        ("breast_cancer", (683, 9), [444, 239]),
        ("letter_ab", (1555, 16), [789, 766]),
    ],
)
def test_benchmark_files(name, shape, sizes):
    loaded = load(name, DATA)
    assert loaded.data.shape == shape
    assert not np.isnan(loaded.data).any()
    assert np.bincount(loaded.target).tolist() == sizes


@needs_data
@pytest.mark.parametrize(("name", "cells"), [("house_votes_435", 392), ("breast_cancer_699", 16)])
def test_missing_cells_of_benchmark_files(name, cells):
    assert np.isnan(load(name, DATA).data).sum() == cells


@needs_data
@pytest.mark.parametrize("name", ["iris", "wine", "wdbc", "optdigits_test", "two_spirals"])
def test_a_name_means_one_data_set(name):
    from_file, otherwise = load(name, DATA), load(name)
    assert_allclose(from_file.data, otherwise.data, rtol=1e-6, atol=1e-6)
    assert_array_equal(from_file.target, otherwise.target)


# Import


@pytest.mark.slow
def test_import_is_light():
    code = (
        "import sys, coterie; before = set(sys.modules);"
        "from coterie import datasets; datasets.make_cigar(random_state=0);"
        "heavy = {'polars', 'sklearn', 'sklearn.datasets', 'pandas'} & (set(sys.modules) - before);"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
