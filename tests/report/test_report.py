"""The summary, the heat map and the page."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from coterie import EAC, ConsensusClustering, Ensemble, RandomizedEnsemble
from coterie.metrics import anmi, nmi
from coterie.report import render_html, summarize
from coterie.report._heatmap import consensus_order, draw_png, mean_blocks
from strategies import label_matrices

VOTES = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]
HOSTILE = "<script>alert('x')</script> & \"quoted\""


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.3, size=(20, 3)) for c in (0, 4, 8)])
    generator = RandomizedEnsemble(n_partitions=12, n_clusters=(3, 6), max_samples=0.9)
    return ConsensusClustering(generator=generator, random_state=3).fit(X)


class Page(HTMLParser):
    """Collects the elements and the text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.addresses, self.text = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        assert not any(name.startswith("on") for name, _ in attrs)

    handle_startendtag = handle_starttag

    def handle_data(self, data):
        self.text += data


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
        "a partition counts only for pairs",
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
    assert f"{fitted.lifetimes_[k - 2]:.3f}" in reason


@pytest.mark.parametrize("votes", [[[0]], [[0, 1], [1, 1]], [[0, 0], [0, 0]]])
def test_one_and_two_objects(votes):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    summary = summarize(EAC().fit(votes))
    assert "too few objects" in summary["reason"]
    assert summary["lifetimes"] is None
    assert "<html" in render_html(summary)


def test_unknown_methods_are_called_by_their_name():
    class Other(EAC):
        pass

    summary = summarize(Other(n_clusters=2).fit(VOTES))
    assert "combined by Other." in summary["methods"]


# --- heat map -------------------------------------------------------------------------------------


@given(labels=label_matrices(), data=st.data())
def test_small_heat_map_is_the_coassociation(labels, data):
    ensemble = Ensemble(labels)
    order = np.array(data.draw(st.permutations(range(ensemble.n_objects))))
    blocks = mean_blocks(ensemble, order)
    expected = np.array(naive.coassociation(ensemble.labels), dtype=float)[np.ix_(order, order)]
    off_diagonal = ~np.eye(len(order), dtype=bool)
    np.testing.assert_allclose(blocks.shares[off_diagonal], expected[off_diagonal])


def test_blocks_are_shares_of_the_votes():
    rng = np.random.default_rng(0)
    labels = rng.integers(-1, 3, size=(23, 4))
    ensemble = Ensemble(labels)
    order = rng.permutation(23)
    edges, shares = mean_blocks(ensemble, order, most=5)
    assert (edges[0], edges[-1], len(edges)) == (0, 23, 6)
    for a in range(5):
        for b in range(5):
            first = labels[order[edges[a] : edges[a + 1]]][:, None]
            second = labels[order[edges[b] : edges[b + 1]]][None]
            both = (first >= 0) & (second >= 0)
            assert shares[a, b] == pytest.approx(((first == second) & both).sum() / both.sum())


def test_order_keeps_clusters_together(model):
    order = consensus_order(model.consensus_)
    assert sorted(order) == list(range(60))
    assert (np.diff(model.labels_[order]) >= 0).all()


def test_picture_has_a_pixel_per_block():
    pytest.importorskip("matplotlib")
    png = draw_png(np.eye(7))
    assert png.startswith(b"\x89PNG")
    assert int.from_bytes(png[16:20]) == int.from_bytes(png[20:24]) == 7


# --- page -----------------------------------------------------------------------------------------


def test_page_shows_the_summary(model):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
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


def test_page_loads_nothing(model):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    html = render_html(summarize(model))
    page = Page(html)
    assert "script" not in page.tags
    assert page.addresses
    assert all(address.startswith("data:") for address in page.addresses)
    assert not re.search(r"https?://|url\(|@import", html)
    assert "default-src 'none'" in html


def test_names_from_data_are_text():
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    ensemble = Ensemble(VOTES, groups=[HOSTILE, "b", "c"])
    summary = summarize(
        EAC(n_clusters=2).fit(ensemble), ids=[HOSTILE] * 5, truth=[HOSTILE] * 5, source=HOSTILE,
        notes=[HOSTILE], preparation=HOSTILE,
    )  # fmt: skip
    page = Page(render_html(summary))
    assert "script" not in page.tags
    assert page.text.count(HOSTILE) >= 8


def test_large_ensembles_stay_small_pages():
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    rng = np.random.default_rng(0)
    group = rng.integers(0, 70, size=5000)
    labels = np.column_stack([group, group // 2, *[group // 3] * 300])
    summary = summarize(EAC(n_clusters=70).fit(labels))
    assert summary["heat_map"]["n_blocks"] == 600
    html = render_html(summary)
    assert len(html) < 3e6
    assert "The 50 largest of 70 clusters" in html
    assert "The first 200 of 302 partitions" in html


def test_missing_extra_is_named(model, monkeypatch):
    from coterie.report import _html

    monkeypatch.setattr(_html, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "coterie\[report\]"'):
        render_html(summarize(model))
