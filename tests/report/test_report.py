"""The summary, the heat map and the page."""

import base64
import hashlib
import json
import platform
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import coterie
from coterie import (
    EAC,
    LACA,
    LWEA,
    ConsensusClustering,
    Ensemble,
    MSTEClust,
    RandomizedEnsemble,
    Voting,
)
from coterie.metrics import anmi, nmi
from coterie.report import render_html, summarize
from coterie.report._charts import choice_chart
from strategies import noisy_labels

VOTES = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
HOSTILE = "<script>alert('x')</script> & \"quoted\""


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.3, size=(20, 3)) for c in (0, 4, 8)])
    generator = RandomizedEnsemble(n_partitions=12, n_clusters=(3, 6), max_samples=0.9)
    return ConsensusClustering(generator=generator, random_state=3).fit(X)


class Page(HTMLParser):
    """Collects the elements, the text and the scripts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.addresses, self.text, self.scripts = [], [], "", []
        self.in_script = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag == "script":
            self.scripts.append("")
            self.in_script = True

    handle_startendtag = handle_starttag

    def handle_data(self, data):
        if self.in_script:
            self.scripts[-1] += data
        else:
            self.text += data

    def handle_endtag(self, tag):
        if tag == "script":
            self.in_script = False


# --- summary --------------------------------------------------------------------------------------


def test_summary_is_plain_and_survives_json(model):
    summary = summarize(model, truth=[0] * 20 + [1] * 20 + [2] * 20, notes=["a note"])
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_summary_says_what_the_model_says(model):
    summary = summarize(model)
    labels = model.labels_
    assert summary["n_clusters"] == model.n_clusters_
    assert summary["objects"]["cluster"] == labels.tolist()
    assert [row["size"] for row in summary["clusters"]] == np.bincount(labels).tolist()
    for row in summary["clusters"]:
        members = model.confidence_[labels == row["cluster"]]
        assert row["confidence"] == pytest.approx(members.mean(), abs=1e-6)
        assert row["least_confidence"] == pytest.approx(members.min(), abs=1e-6)
    assert summary["agreement"]["anmi"] == pytest.approx(anmi(labels, model.ensemble_), abs=1e-6)
    column = model.ensemble_.labels[:, 0]
    seen = column >= 0
    assert summary["partitions"][0]["nmi"] == pytest.approx(
        nmi(column[seen], labels[seen]), abs=1e-6
    )
    assert summary["partitions"][0]["missing"] == pytest.approx(0.1)


def test_doubtful_objects_are_those_of_lowest_confidence(model):
    rows = summarize(model, ids=[f"o{i}" for i in range(60)])["doubtful"]
    values = [row["confidence"] for row in rows]
    assert values == sorted(values)
    assert len(rows) <= 20
    assert all(row["id"] == f"o{row['row']}" for row in rows)
    assert summarize(EAC(n_clusters=2).fit([[0], [0], [1], [1]]))["doubtful"] == []


def test_scores_only_where_the_class_is_known():
    fitted = EAC(n_clusters=2).fit(VOTES)
    scores = summarize(fitted, truth=["a", "a", None, "b", ""])["scores"]
    assert scores["n_scored"] == 3
    assert scores["error_rate"] == 0.0
    assert summarize(fitted)["scores"] is None
    with pytest.raises(ValueError, match="at least one object"):
        summarize(fitted, truth=[None] * 5)


def test_lengths_are_checked():
    fitted = EAC(n_clusters=2).fit(VOTES)
    with pytest.raises(ValueError, match=r"ids .* \(5\); got 1"):
        summarize(fitted, ids=["a"])
    with pytest.raises(ValueError, match=r"truth .* \(5\); got 1"):
        summarize(fitted, truth=["a"])


def test_methods_text(model):
    text = summarize(model, preparation="standardised")["methods"]
    for words in (
        "60 objects with 3 features (standardised) were clustered 12 times by k-means",
        "90 % of the objects each time",
        "a partition counts for a pair of objects only if it labels both",
        "Seed: 3.",
    ):
        assert words in text
    given_labels = summarize(EAC(n_clusters=2, linkage="single").fit(VOTES))
    assert (
        "3 partitions of 5 objects, with 2 clusters each, were taken as given"
        in (given_labels["methods"])
    )
    assert "single-linkage" in given_labels["methods"]
    assert "set to 2" in given_labels["methods"]
    assert any("Fred" in reference for reference in given_labels["references"])


def test_reason_names_the_longest_lifetimes():
    fitted = EAC().fit(VOTES)
    k = fitted.n_clusters_
    reason = summarize(fitted)["reason"]
    assert f"found {k} clusters" in reason
    assert f"{fitted.n_clusters_curve_[k]:.3f}" in reason


@pytest.mark.parametrize("votes", [[[0]], [[0, 1], [1, 1]]])
def test_one_and_two_objects(votes):
    pytest.importorskip("jinja2")
    summary = summarize(EAC().fit(votes))
    assert "too few objects" in summary["reason"]
    assert summary["choice"] is None
    assert "<html" in render_html(summary)


def test_every_method_has_its_words():
    from coterie.consensus import CONSENSUS
    from coterie.report._words import method_words

    for cls in CONSENSUS.values():
        assert all(vars(cls)["about"]), cls
        assert "{" not in method_words(cls()).name


def test_unknown_methods_are_called_by_their_name():
    class Other(EAC):
        pass

    summary = summarize(Other(n_clusters=2).fit(VOTES))
    assert "combined by Other." in summary["methods"]


def test_methods_text_is_complete(model):
    laca = LACA().fit(model.ensemble_)
    text = summarize(laca, excluded=["a", "b"], n_imputed=1)["methods"]
    for words in (
        "The columns 'a' and 'b' were left out.",
        "1 missing value of the features was filled in.",
        f"The method converged after {laca.n_iter_} iteration",
        "confidence of an object: of the votes",
        f"done with coterie {coterie.__version__} under Python {platform.python_version()}.",
    ):
        assert words in text
    many = summarize(laca, excluded=[f"c{i}" for i in range(30)])["methods"]
    assert "'c9' and 20 more were left out." in many
    laca.converged_ = False
    summary = summarize(laca)
    assert "without having converged" in summary["methods"]
    assert any("version " + coterie.__version__ in text for text in summary["references"])
    assert "converged" not in summarize(EAC(n_clusters=2).fit(VOTES))["methods"]


def test_partitions_go_by_their_names():
    frame = pd.DataFrame(VOTES, columns=["kmeans3", "ward3", HOSTILE])
    summary = summarize(EAC(n_clusters=2).fit(frame))
    assert [row["name"] for row in summary["partitions"]] == ["kmeans3", "ward3", HOSTILE]
    assert {row["group"] for row in summary["partitions"]} == {None}
    page = Page(render_html(summary))
    for words in ("kmeans3", "ward3", HOSTILE):
        assert words in page.text
    assert "Made by" not in page.text
    assert page.tags.count("script") == 2


def test_groups_go_by_name(model):
    rows = summarize(model)["partitions"]
    assert {row["group"] for row in rows} == {"KMeans"}
    two = summarize(MSTEClust(n_clusters=2).fit(Ensemble(VOTES, groups=[0, 0, 1])))
    assert [row["group"] for row in two["partitions"]] == ["group 0", "group 0", "group 1"]
    assert {row["group"] for row in two["groups"]} == {"group 0", "group 1"}


def test_runner_up_is_the_next_best_cluster(model):
    labels, ensemble = model.labels_, model.ensemble_
    together = ensemble.coassociation()
    seen = (ensemble.labels >= 0).astype(int)
    both = seen @ seen.T
    found = summarize(model, pictures=False)["objects"]["runner_up"]
    for i in range(60):
        share = [
            (together[i] * both[i])[labels == c].sum() / both[i][labels == c].sum()
            for c in range(model.consensus_.n_clusters_)
        ]
        share[labels[i]] = 0
        assert found[i] == (int(np.argmax(share)) if max(share) > 0 else None)
    alone = summarize(EAC(n_clusters=1).fit(VOTES))
    assert alone["objects"]["runner_up"] == [None] * 5


def test_agreement_and_scores_at_other_numbers(model):
    truth = ["u"] * 20 + ["v"] * 40
    summary = summarize(EAC(n_clusters=3).fit(model.ensemble_), truth=truth)
    cuts = summary["cuts"]
    for i, k in enumerate(cuts["numbers"]):
        again = summarize(EAC(n_clusters=k).fit(model.ensemble_), truth=truth, pictures=False)
        assert cuts["agreement"][i] == again["agreement"]
        assert cuts["scores"][i] == again["scores"]


def test_one_cluster_does_not_flatten_the_likelihood():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(6), 20)
    labels = np.where(rng.random((120, 30)) < 0.1, rng.integers(0, 6, (120, 30)), group[:, None])
    summary = summarize(LACA().fit(labels))
    chart = choice_chart(summary)
    at = {mark["k"]: mark["y"] for mark in chart["marks"]}
    k = summary["n_clusters"]
    assert at[1] == chart["bottom"]
    assert "Off the scale, at its edge: 1" in chart["caption"]
    # The fall on either side of the choice takes a good part of the height.
    height = chart["bottom"] - 12
    assert at[k - 1] - at[k] > 0.2 * height
    assert at[k + 6] - at[k] > 0.1 * height
    assert len(chart["ticks"]) >= 2


# --- cautions -------------------------------------------------------------------------------------


def test_cautions_are_in_the_summary_and_on_the_page():
    votes = np.zeros((300, 5), dtype=int)
    votes[17] = 1
    summary = summarize(EAC(n_clusters=2).fit(votes))
    assert [caution["kind"] for caution in summary["cautions"]] == ["lopsided", "tiny"]
    page = Page(render_html(summary)).text
    for caution in summary["cautions"]:
        assert caution["words"] in page


# --- other numbers of clusters, pictures, profiles ------------------------------------------------


def labels_at(summary, k):
    """The labels of the slider at k, put together as the page does."""
    cuts = summary["cuts"]
    at = cuts["numbers"].index(k)
    return np.array([cuts["clusters"][g][at] for g in cuts["group"]])


def test_a_tree_is_cut_at_other_numbers(model):
    eac = EAC().fit(model.ensemble_)
    summary = summarize(eac)
    assert summary["cuts"]["how"] == "cut"
    assert "tree of EAC is cut" in summary["cuts"]["words"]
    assert set(range(2, 11)) <= set(summary["cuts"]["numbers"])
    for k in summary["cuts"]["numbers"]:
        np.testing.assert_array_equal(
            labels_at(summary, k), EAC(n_clusters=k).fit(model.ensemble_).labels_
        )


@pytest.mark.parametrize("settings", [{"min_share": 0.5}, {"max_objects": 40}])
def test_the_method_itself_cuts_its_tree(settings):
    _, labels = noisy_labels(0, 120, 12, n_clusters=3, noise=0.4)
    lwea = LWEA(3, **settings).fit(labels)
    summary = summarize(lwea)
    assert summary["cuts"]["how"] == "cut"
    for k in summary["cuts"]["numbers"]:
        again = LWEA(k, **settings).fit(labels).labels_
        np.testing.assert_array_equal(labels_at(summary, k), again)
    assert set(range(2, 11)) <= set(summary["cuts"]["numbers"])


def test_a_method_without_a_tree_is_fitted_again(model, progress):
    voting = Voting(n_clusters=3).fit(model.ensemble_)
    summary = summarize(voting, numbers=[2, 4])
    assert summary["cuts"]["how"] == "refit"
    assert progress.counts()["other numbers of clusters"] == (2, 2)
    assert progress.counts()["heat map"] == (12, 12)
    np.testing.assert_array_equal(labels_at(summary, 3), voting.labels_)
    for k in summary["cuts"]["numbers"]:
        again = Voting(n_clusters=k).fit(model.ensemble_).labels_
        np.testing.assert_array_equal(labels_at(summary, k), again)


def test_many_objects_are_merged_from_the_clusters(monkeypatch, model):
    from coterie.views import _cuts

    monkeypatch.setattr(_cuts, "REFIT_MAX_OBJECTS", 10)
    voting = Voting(n_clusters=3).fit(model.ensemble_)
    summary = summarize(voting)
    assert (summary["cuts"]["how"], summary["cuts"]["numbers"]) == ("merged", [2, 3])
    # Coarser clusters are unions of the fitted ones.
    pairs = set(zip(labels_at(summary, 3).tolist(), labels_at(summary, 2).tolist(), strict=True))
    assert len(pairs) == 3


def test_refined_labels_stay_those_of_the_model(model):
    laca = LACA(refine=True).fit(model.ensemble_)
    summary = summarize(laca)
    np.testing.assert_array_equal(labels_at(summary, laca.n_clusters_), laca.labels_)


def test_only_one_number_where_nothing_else_is_possible():
    summary = summarize(EAC(n_clusters=1).fit([[0, 0]]))
    assert (summary["cuts"]["numbers"], summary["cuts"]["how"]) == ([1], "only")


def test_samples_are_even_and_said(monkeypatch, model):
    from coterie.report import _summary

    monkeypatch.setattr(_summary, "MAX_SHOWN", 20)
    summary = summarize(model)
    shown = summary["shown"]["objects"]
    assert summary["shown"]["sampled"]
    assert len(set(shown)) == len(shown) == 20
    clusters = np.bincount(model.labels_[shown], minlength=3) / 20
    np.testing.assert_allclose(clusters, np.bincount(model.labels_) / 60, atol=0.06)
    assert len(summary["projection"]["x"]) == 20
    assert np.shape(summary["heat_map"]["labels"]) == (12, 20)
    assert summary["heat_map"]["edges"][-1] == 60  # as a whole it is of all objects
    assert "The pictures show 20 of the 60 objects" in Page(render_html(summary)).text
    assert not summarize(EAC(n_clusters=2).fit(VOTES))["shown"]["sampled"]


def test_heat_map_is_the_coassociation(model):
    summary = summarize(model)
    order = summary["shown"]["objects"]
    shares = model.ensemble_.coassociation()[np.ix_(order, order)]
    percent = np.array(summary["heat_map"]["percent"])
    off = ~np.eye(60, dtype=bool)
    np.testing.assert_allclose(percent[off], 100 * shares[off], atol=0.5)
    np.testing.assert_array_equal(
        np.array(summary["heat_map"]["labels"]).T, model.ensemble_.labels[order]
    )


def test_projection_is_of_the_features_or_of_the_labels(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) * [9, 3, 1]
    place = summarize(model, X=X)["projection"]
    assert place["kind"] == "components"
    spread = np.var([place["x"], place["y"]], axis=1)
    assert spread[0] > spread[1]
    assert summarize(model, X=X[:, :2])["projection"]["kind"] == "features"
    by_labels = summarize(model)
    assert by_labels["projection"]["kind"] == "labels"
    # Objects of one cluster are nearer to each other than to others.
    at = np.array([by_labels["projection"]["x"], by_labels["projection"]["y"]]).T
    labels = model.labels_[by_labels["shown"]["objects"]]
    distance = np.linalg.norm(at[:, None] - at, axis=2)
    same = labels[:, None] == labels
    assert distance[same].mean() < 0.5 * distance[~same].mean()


def test_profiles_are_means_of_the_original_features(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    summary = summarize(model, X=X, original=100 + X, feature_names=["a", "b"])
    found = summary["profiles"]
    assert found["features"] == ["a", "b"]
    for row in found["by_number"]:
        labels = labels_at(summary, row["n_clusters"])
        for c, mean in enumerate(row["mean"]):
            np.testing.assert_allclose(mean, 100 + X[labels == c].mean(axis=0), rtol=1e-5)
    assert summarize(model)["profiles"] is None
    with pytest.raises(ValueError, match="2 features; got 1"):
        summarize(model, X=X, feature_names=["a"])
    with pytest.raises(ValueError, match="row for each of the 60 objects"):
        summarize(model, X=X[:5])


def test_of_many_features_those_that_differ_are_kept(model):
    X = np.random.default_rng(0).normal(size=(60, 50))
    X[:, 33] += 10 * model.labels_
    found = summarize(model, X=X)["profiles"]
    assert found["n_features"] == 50
    assert len(found["features"]) == 30
    assert found["features"][0] == "feature 33"
    assert found["between"][0] > 0.9


def test_choice_is_that_of_the_method(model):
    eac = EAC().fit(model.ensemble_)
    choice = summarize(eac)["choice"]
    assert choice["kind"] == "lifetime"
    assert choice["numbers"][0] == 2
    np.testing.assert_allclose(
        choice["values"], eac.n_clusters_curve_.array[: len(choice["values"])], atol=1e-6
    )
    laca = LACA().fit(model.ensemble_)
    choice = summarize(laca)["choice"]
    assert (choice["kind"], choice["numbers"][0]) == ("likelihood", 1)
    assert choice["numbers"][int(np.argmax(choice["values"]))] == laca.n_clusters_
    assert summarize(Voting(n_clusters=2).fit(VOTES))["choice"] is None


def test_without_pictures_nothing_of_them_is_gathered(model):
    summary = summarize(model, pictures=False)
    for key in ("cuts", "heat_map", "projection", "shown", "profiles"):
        assert summary[key] is None
    assert "Doubtful objects" in render_html(summary)


# --- page -----------------------------------------------------------------------------------------


def test_page_shows_the_summary(model):
    pytest.importorskip("jinja2")
    summary = summarize(model, truth=["u"] * 20 + ["v"] * 40, source="data.csv", notes=["Careful."])
    page = Page(render_html(summary))
    for words in (
        summary["methods"],
        summary["reason"],
        "Careful.",
        "Doubtful objects",
        "data.csv",
    ):
        assert words in page.text
    assert render_html(json.loads(json.dumps(summary))) == render_html(summary)


def test_page_loads_nothing_and_runs_only_its_own_script(model):
    pytest.importorskip("jinja2")
    html = render_html(summarize(model))
    page = Page(html)
    assert len(page.scripts) == 2  # the data, and the script
    digest = base64.b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in html
    assert page.addresses
    assert all(address.startswith(("data:", "#")) for address in page.addresses)
    assert not re.search(r"https?://|url\(|@import", html)
    assert "default-src 'none'" in html


def test_names_from_data_are_text():
    pytest.importorskip("jinja2")
    ensemble = Ensemble(VOTES, groups=[HOSTILE, "b", "c"])
    summary = summarize(
        EAC(n_clusters=2).fit(ensemble), X=np.eye(5), feature_names=[HOSTILE] * 5,
        ids=[HOSTILE] * 5, truth=[HOSTILE] * 5, source=HOSTILE, notes=[HOSTILE],
        preparation=HOSTILE,
        comparison={
            "leaderboard": [{"method": HOSTILE, "reason": HOSTILE}], "reason": HOSTILE,
            "methods": [HOSTILE] * 2, "agreement": [[1.0] * 2] * 2,
        },
    )  # fmt: skip
    page = Page(render_html(summary))
    assert page.tags.count("script") == 2
    assert page.text.count(HOSTILE) >= 8
    data = json.loads(page.scripts[0])
    assert data["ids"] == [HOSTILE] * 5
    assert data["profiles"]["features"] == [HOSTILE] * 5
    assert "<" not in page.scripts[0]


def test_leaderboard_is_shown(model):
    pytest.importorskip("jinja2")
    rows = [
        {"method": "eac", "status": "ok", "n_clusters": 3, "anmi": 0.71234,
         "peak_memory": 5_000_000, "scores": {"nmi": 0.84567}, "n_clusters_given": True},
        {"method": "voting", "status": "ok", "n_clusters": 4, "anmi": 0.6, "notes": ["few starts"]},
        {"method": "hgpa", "status": "refused", "reason": "needs the extra", "anmi": None},
    ]  # fmt: skip
    comparison = {
        "leaderboard": rows,
        "recommended": "eac",
        "reason": "EAC agrees best.",
        "methods": ["eac", "voting"],
        "agreement": [[1.0, 0.4321], [0.4321, 1.0]],
    }
    html = render_html(summarize(model, comparison=comparison))
    for words in (
        "Methods compared",
        "EAC agrees best.",
        "0.712",
        "0.846",
        "5 MB",
        "refused: needs the extra",
        "3 (given)",
        "few starts",
        "0.43",
    ):
        assert words in Page(html).text
    assert html.count('class="recommended"') == 1
    assert "Methods compared" not in Page(render_html(summarize(model))).text


def test_trusted_partitions_come_first():
    pytest.importorskip("jinja2")
    good = np.repeat([0, 1, 2], 10)
    bad = np.tile([0, 1, 2], 10)
    laca = LACA(ess=1).fit(np.column_stack([bad, good, good, good]))
    summary = summarize(laca)
    weights = [row["weight"] for row in summary["partitions"]]
    np.testing.assert_allclose(weights, laca.weights_[:, 0], atol=1e-6)
    html = render_html(summary)
    table = html[html.index("Table of 4 partitions") :]
    first = re.search(r"<tbody>\s*<tr><td[^>]*>(\w+)", table)[1]
    assert first == "partition_1"
    assert "1 has a negative weight" in html


@pytest.mark.slow
def test_large_ensembles_stay_small_pages():
    pytest.importorskip("jinja2")
    rng = np.random.default_rng(0)
    group = rng.integers(0, 70, size=5000)
    labels = np.column_stack([group, group // 2, *[group // 3] * 300])
    summary = summarize(EAC(n_clusters=70).fit(labels))
    assert summary["heat_map"]["n_blocks"] == 400
    html = render_html(summary)
    assert len(html.encode()) < 3e6
    assert "The 50 largest of 70 clusters" in html
    assert "The 300 most reliable of 302 partitions" in html


def test_many_labels_stay_apart_on_the_page():
    pytest.importorskip("jinja2")
    from coterie.report._html import page_data

    labels = np.column_stack([np.arange(400), np.repeat([0, 1], 200)])
    labels[3, 1] = -1
    data = page_data(summarize(EAC(n_clusters=2).fit(labels)))
    assert (data["labels"]["t"], data["missing"]) == ("u2", 65535)
    codes = np.frombuffer(base64.b64decode(data["labels"]["d"]), "<u2").reshape(400, 2)
    shown = np.frombuffer(base64.b64decode(data["shown"]["d"]), "<u4")
    expected = np.where(labels < 0, 65535, labels)[shown]
    np.testing.assert_array_equal(codes, expected)


def test_another_format_is_refused(model):
    with pytest.raises(ValueError, match="summary must be of format 3"):
        render_html(summarize(model) | {"format": 1})


def test_missing_extra_is_named(model, monkeypatch):
    from coterie.report import _html

    monkeypatch.setattr(_html, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "coterie\[report\]"'):
        render_html(summarize(model))
