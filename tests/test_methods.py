"""The table of methods: one line is enough, as CONTRIBUTING shows."""

import importlib
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import coterie
from coterie import Ensemble, compare
from coterie._methods import METHODS
from coterie.cli import app
from coterie.cli._options import _complete_method
from coterie.consensus import CONSENSUS
from coterie.report import summarize

GUIDE = Path(__file__).parents[1] / "CONTRIBUTING.md"
LABELS = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 2], [1, 1, 3]])


@pytest.fixture
def medoid(tmp_path, monkeypatch):
    """Register the method that CONTRIBUTING shows."""
    code = re.search(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)[1]
    (tmp_path / "medoid_of_the_guide.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(METHODS, "medoid", "medoid_of_the_guide:Medoid")
    yield importlib.import_module("medoid_of_the_guide").Medoid
    sys.modules.pop("medoid_of_the_guide")
    vars(coterie).pop("Medoid", None)


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_a_method_is_one_line(medoid, tmp_path):
    assert coterie.Medoid is CONSENSUS["medoid"] is medoid
    assert json.loads(run("explain", "medoid", "--json"))["does"] == medoid.about.does
    assert "Medoid of the partitions" in run("explain")
    assert _complete_method("med") == ["medoid"]
    rows = compare(Ensemble(LABELS), methods=["medoid", "eac"], n_clusters=None, n_jobs=1).rows
    assert {row.method: row.status for row in rows} == {"medoid": "ok", "eac": "ok"}
    summary = summarize(medoid().fit(LABELS))
    assert "combined by the partition that agrees most with the others." in summary["methods"]
    assert "that of the chosen partition" in summary["reason"]
    path = tmp_path / "labels.csv"
    path.write_text("p,q,r\n" + "\n".join(",".join(map(str, row)) for row in LABELS.tolist()))
    assert "medoid" in run("compare", path, "--labels", "-m", "medoid", "-k", "own")
    page = tmp_path / "report.html"
    run("consense", path, "-m", "medoid", "--report", page, "-q", "-o", tmp_path / "out.csv")
    assert "the partition that agrees most with the others" in page.read_text(encoding="utf-8")


def test_the_method_of_the_guide_works(medoid):
    fitted = medoid().fit(LABELS)
    assert fitted.labels_.tolist() == [0, 0, 1, 1]
    assert fitted.predict(LABELS).tolist() == [0, 0, 1, 1]


def test_every_class_is_imported_when_asked_for():
    for name, where in METHODS.items():
        cls = where.partition(":")[2]
        assert getattr(coterie, cls) is CONSENSUS[name]
        assert cls in coterie.__all__
    assert "nothing" not in CONSENSUS
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        coterie.Nothing  # noqa: B018
