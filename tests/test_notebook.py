"""What a notebook shows of an estimator."""

import base64
import re

import numpy as np
import pytest
import sklearn

from coterie import EAC, LACA, ConsensusClustering, Voting
from coterie._notebook import fitted_html
from coterie.views._png import blue_png, indexed_png

VOTES = [[0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("method", [EAC(n_clusters=2), LACA(), Voting(n_clusters=2)])
def test_fitted_methods_show_what_they_found(method):
    before = method._repr_mimebundle_()["text/html"]
    assert "sk-" in before  # scikit-learn's own diagram
    method.fit(VOTES)
    html = method._repr_html_()
    assert html == method._repr_mimebundle_()["text/html"]
    for words in (type(method).__name__, "objects", "clusters", "mean confidence"):
        assert words in html
    assert f"{method.confidence_.mean():.2f}" in html
    assert "<script" not in html
    assert "sk-" not in html


def test_one_step_models_too():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = ConsensusClustering(n_clusters=2, random_state=0)
    assert "sk-" in model._repr_html_()
    html = model.fit(X)._repr_html_()
    assert "LWEA" in html
    assert "(as asked for)" in html


def test_text_stays_text_if_scikit_learn_is_told_so():
    eac = EAC(n_clusters=2).fit(VOTES)
    with sklearn.config_context(display="text"):
        assert "text/html" not in eac._repr_mimebundle_()
        assert not hasattr(eac, "_repr_html_")


def test_parameters_are_escaped():
    class Odd:
        def __repr__(self):
            return "<script>alert(1)</script>"

    eac = EAC(n_clusters=2).fit(VOTES)
    eac.memory_limit = Odd()
    html = fitted_html(eac)
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_many_clusters_are_summed_up():
    html = fitted_html(EAC(n_clusters=12).fit(np.arange(12)[:, None]))
    assert "and 4 smaller" in html


def test_picture_has_a_pixel_per_value():
    html = fitted_html(EAC(n_clusters=2).fit(VOTES))
    png = base64.b64decode(re.search(r"base64,([^\"]+)", html)[1])
    assert int.from_bytes(png[16:20]) == int.from_bytes(png[20:24]) == 5


def test_png_can_be_read_back():
    image = pytest.importorskip("matplotlib.image")
    import io

    rng = np.random.default_rng(0)
    palette = rng.integers(0, 256, size=(9, 3), dtype=np.uint8)
    pixels = rng.integers(0, 9, size=(4, 7), dtype=np.uint8)
    read = image.imread(io.BytesIO(indexed_png(pixels, palette)), format="png")
    np.testing.assert_array_equal((255 * read[:, :, :3]).round(), palette[pixels])
    blue = image.imread(io.BytesIO(blue_png(np.array([[0.0, 1.0]]))), format="png")
    assert blue[0, 0, :3].min() == 1.0
    assert blue[0, 1, :3].max() < 0.5
