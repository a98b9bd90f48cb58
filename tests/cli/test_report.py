"""``coterie report``: from features, from labels, from an ensemble, from a saved result."""

import json

import pytest

from coterie import Ensemble

pytest.importorskip("jinja2")


def test_from_features(run, table, tmp_path):
    done = run("report", table, "--id", "name", "--truth", "kind")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == "report.html: open it in a browser.\n"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for words in ("clusters in blobs.csv", "y pos", "object 3", "What the clusters are like"):
        assert words in page


def test_is_what_cluster_writes(run, table, tmp_path):
    run("report", table, "--id", "name", "--truth", "kind", "--output", "one.html")
    run("cluster", table, "--id", "name", "--truth", "kind", "--report", "two.html", "-q")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_from_labels_and_from_an_ensemble(run, tmp_path):
    (tmp_path / "votes.csv").write_text("name,a,b\nu,1,x\nv,1,x\nw,2,y\nz,2,y\n")
    done = run("report", "votes.csv", "--labels", "--id", "name", "-o", "r.html", "-m", "eac")
    assert done.exit_code == 0, done.stderr
    assert "taken as given" in (tmp_path / "r.html").read_text(encoding="utf-8")
    Ensemble([[1, 1], [1, 1], [2, 2], [2, 2]]).save(tmp_path / "e.npz")
    assert run("report", "e.npz", "-o", "e.html", "--clusters", "2").exit_code == 0
    assert "2 clusters in e.npz" in (tmp_path / "e.html").read_text(encoding="utf-8")


def test_from_a_saved_result(run, table, tmp_path):
    saved = run("cluster", table, "--id", "name", "--truth", "kind", "--json", "--clusters", "3")
    summary = json.loads(saved.stdout)
    assert summary["cuts"] is not None  # all that a report needs
    (tmp_path / "result.json").write_text(saved.stdout)
    assert run("report", "result.json", "-o", "a.html").exit_code == 0
    run(
        "cluster", table, "--id", "name", "--truth", "kind", "--clusters", "3", "--report", "b.html"
    )
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_json_is_what_the_page_shows(run, table, tmp_path):
    printed = run("report", table, "--id", "name", "--truth", "kind", "--json")
    assert json.loads(printed.stdout)["format"] == 3
    assert (tmp_path / "report.html").exists()


def test_quiet(run, table):
    done = run("report", table, "--id", "name", "--truth", "kind", "--quiet")
    assert (done.stdout, done.stderr) == ("", "")


def test_refusals(refuse, table, tmp_path):
    assert "Did you mean 'name'?" in refuse("report", table, "--id", "nam")
    assert "must end in .html" in refuse("report", table, "-o", "report.txt")
    assert "does not exist" in refuse("report", "nothing.json")
    (tmp_path / "odd.json").write_text("[1]")
    assert "is not a result of coterie" in refuse("report", "odd.json")
    (tmp_path / "broken.json").write_text("{")
    assert "is not JSON" in refuse("report", "broken.json")
    old = dict.fromkeys(("format", "objects", "cuts", "consensus", "ensemble"))
    (tmp_path / "old.json").write_text(json.dumps(old))
    assert "must be of format 3" in refuse("report", "old.json")
    assert not (tmp_path / "report.html").exists()
    assert "shown as it is" in refuse("report", "odd.json", "--clusters", "3")
    assert "for features" in refuse("report", table, "--labels", "--standardize")
    assert "would overwrite the input" in refuse("report", "page.html", "-o", "page.html")


def test_of_compared_methods(run, table, tmp_path):
    arguments = ("--id", "name", "--truth", "kind", "--method", "eac", "--method", "mixture")
    done = run("compare", table, *arguments, "-p", "8", "--halves", "0", "--report", "c.html")
    assert done.exit_code == 0, done.stderr
    page = (tmp_path / "c.html").read_text(encoding="utf-8")
    for words in ("Methods compared", "How far they agree", "mixture", "object 3", "y pos"):
        assert words in page
    assert "c.html" in done.stdout
