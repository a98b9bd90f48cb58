"""The same names, types and messages in every consensus function."""

import re
from collections.abc import Mapping

import numba
import numpy as np
import pytest

from coterie import ECCMS, HNE, KCC, LACA, LWEA, Ensemble
from coterie._limits import memory_limit_bytes
from coterie.consensus import CONSENSUS
from coterie.consensus._curve import ClusterNumberCurve
from coterie.consensus._parameters import ATTRIBUTES, PARAMETERS, RULES
from strategies import noisy_labels

every_method = pytest.mark.parametrize("name", sorted(CONSENSUS))
LABELS = noisy_labels(0, 40, 9, noise=0.2)[1]
CHECKED_ELSEWHERE = {"n_clusters", "init", "weights"}  # their rules need the ensemble

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def fit(name, **parameters):
    method = CONSENSUS[name]
    if not method.finds_n_clusters:
        parameters.setdefault("n_clusters", 4)
    if "random_state" in method().get_params():
        parameters.setdefault("random_state", 0)
    return method(**parameters).fit(LABELS)


@every_method
def test_every_parameter_has_a_rule(name):
    method = CONSENSUS[name]()
    parameters = set(method.get_params()) - CHECKED_ELSEWHERE
    assert parameters <= {*RULES, *method.rules}
    for parameter in parameters:
        for value in (object(), [1, 2]):
            with pytest.raises((TypeError, ValueError), match=rf"^{parameter} must .*; got"):
                fit(name, **{parameter: value})


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (LACA(tol="a"), r"tol must be a number; got 'a' \(str\)"),
        (LACA(tol=float("nan")), "tol must be finite; got nan"),
        (LACA(max_iter=-1), "max_iter must be at least 1; got -1"),
        (LACA(refine=1), "refine must be False or True; got 1"),
        (HNE(threshold="x"), "threshold must be a number .* or 'auto'; got 'x'"),
        (KCC(utility="z"), "utility must be 'euclidean' or 'entropy'; got 'z'"),
        (KCC(random_state="a"), r"random_state must be an integer .* or None; got 'a'"),
        (LWEA(n_jobs=0), "n_jobs must be None, a number of threads or -1 .*; got 0"),
        (LWEA(max_objects=1), "max_objects must be at least 2; got 1"),
        (LWEA(max_objects=1.5), r"max_objects must be an integer or None; got 1.5 \(float\)"),
        (LWEA(min_share=2), "min_share must be at most 1; got 2"),
        (ECCMS(max_objects=None), "max_objects must be an integer; got None"),
    ],
)
def test_words_of_refusals(method, words):
    with pytest.raises((TypeError, ValueError), match=words):
        method.fit(LABELS)


@every_method
def test_threads_hold_during_the_fit_and_are_restored(name, monkeypatch):
    method = CONSENSUS[name]
    before = numba.get_num_threads()
    seen = []

    def spy(self, ensemble):
        seen.append(numba.get_num_threads())
        return original(self, ensemble)

    original = method._fit
    monkeypatch.setattr(method, "_fit", spy)
    one = fit(name, n_jobs=1)
    assert seen == [1]
    assert numba.get_num_threads() == before
    assert fit(name).labels_.tolist() == one.labels_.tolist()

    def fail(self, ensemble):
        raise RuntimeError("no")

    monkeypatch.setattr(method, "_fit", fail)
    with pytest.raises(RuntimeError, match="no"):
        fit(name, n_jobs=1)
    assert numba.get_num_threads() == before


@every_method
def test_memory_limit_holds_during_the_fit(name, monkeypatch):
    method = CONSENSUS[name]
    if "memory_limit" not in method().get_params():
        pytest.skip("needs no array over pairs")
    seen = []

    def spy(self, ensemble):
        seen.append(memory_limit_bytes())
        return original(self, ensemble)

    original = method._fit
    monkeypatch.setattr(method, "_fit", spy)
    default = memory_limit_bytes()
    fit(name, memory_limit="1GB")
    assert seen == [1024**3] != [default]
    assert memory_limit_bytes() == default


@every_method
def test_history_is_iteration_and_objective(name):
    fitted = fit(name)
    if not hasattr(fitted, "history_"):
        # scikit-learn's k-means keeps none
        assert not hasattr(fitted, "n_iter_") or name == "coassociation_kmeans"
        return
    assert type(fitted).objective
    assert fitted.history_.dtype == np.float64
    assert fitted.history_.shape == (len(fitted.history_), 2)
    steps, values = fitted.history_.T
    assert steps[-1] == fitted.n_iter_
    assert (np.diff(steps) > 0).all()
    assert (steps == steps.astype(int)).all()
    assert np.isfinite(values).all()


@every_method
def test_curve_over_the_number_of_clusters(name):
    fitted = fit(name)
    curve = getattr(fitted, "n_clusters_curve_", None)
    documented = "n_clusters_curve_ : mapping" in type(fitted).__doc__
    assert (curve is not None) == documented
    if curve is None:
        return
    assert isinstance(curve, Mapping)
    assert list(curve) == curve.numbers.tolist()
    assert [curve[k] for k in curve] == curve.array.tolist()
    direction = "largest" if curve.larger_is_better else "smallest"
    entry = type(fitted).__doc__.split("n_clusters_curve_ : ")[1].split(" : ")[0]
    assert f"the {direction} is best" in " ".join(entry.split())
    if name != "laca":  # its labels are not the cut of its last tree
        assert fitted.n_clusters_ == curve.best


def test_curve_is_a_mapping():
    curve = ClusterNumberCurve("log F", 2, np.array([3.0, 1.0, 1.0]), larger_is_better=False)
    assert dict(curve) == {2: 3.0, 3: 1.0, 4: 1.0}
    assert curve.best == 3
    assert 5 not in curve
    assert dict(curve.extended(1, 7.0)) == {2: 3.0, 3: 1.0, 4: 1.0, 5: 7.0}
    assert repr(curve) == "<log F of 2 to 4 clusters, smallest is best>"


@every_method
def test_memberships_come_with_probabilities_of_new_rows(name):
    fitted = fit(name)
    assert hasattr(fitted, "membership_") == hasattr(fitted, "predict_proba")
    if not hasattr(fitted, "membership_"):
        return
    rows = np.vstack([LABELS[:6], np.full((1, 9), -1)])
    proba = fitted.predict_proba(rows)
    assert proba.shape == (7, fitted.membership_.shape[1])
    assert (proba >= 0).all()
    assert proba.sum(axis=1) == pytest.approx(np.ones(7))
    k = fitted.n_clusters_
    best = proba[:6, :k].max(axis=1)
    assert proba[np.arange(6), fitted.predict(rows)[:6]] == pytest.approx(best)


@every_method
def test_shared_words_are_in_the_docstring(name):
    method = CONSENSUS[name]
    for parameter in method().get_params():
        assert f"\n{parameter} : " in method.__doc__ or f" {parameter} : " in method.__doc__
    for attribute in ATTRIBUTES:
        assert f"\n{attribute} : " in method.__doc__
    fitted = fit(name)
    public = {key for key in vars(fitted) if key.endswith("_") and not key.startswith("_")}
    heads = [line.partition(" : ")[0] for line in method.__doc__.split("\n") if " : " in line]
    assert public <= {part for head in heads for part in head.split(", ")}


@every_method
def test_every_citation_has_its_reference(name):
    text = CONSENSUS[name].__doc__
    references = text.split("References\n----------\n")[1].split("\n\n")[0]
    cited = set(re.findall(r"\[(\d)\]_", text))
    listed = re.findall(r"^\.\. \[(\d)\] ", references, flags=re.MULTILINE)
    assert cited <= set(listed)
    assert listed == [str(number) for number in range(1, len(listed) + 1)]
    for paper in CONSENSUS[name].about.references:
        assert paper.split(".")[1].strip()[:20] in " ".join(references.split())


def test_shared_words_do_not_replace_own_ones():
    assert "longest lifetime" in CONSENSUS["eac"].__doc__
    assert PARAMETERS["n_clusters"] not in CONSENSUS["eac"].__doc__
    assert PARAMETERS["regime"] in CONSENSUS["eac"].__doc__


def test_ensemble_is_checked_before_parameters_that_need_it():
    with pytest.raises(ValueError, match=r"1-D|2-D|2D"):
        LACA(tol="a").fit(np.zeros(3))
    assert LACA().fit(Ensemble(LABELS)).n_clusters_ > 1
