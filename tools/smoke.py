"""What a fresh installation must do: run it with its interpreter, in an empty directory.

``python smoke.py`` runs the demo, the report, a quick reproduction, plots and a saved model, and
fails with the first that does not work.
"""

import json
import subprocess
import sys
from pathlib import Path

import coterie


def run(*words: str) -> str:
    """Run the command line of this installation; return what it printed."""
    command = [sys.executable, "-I", "-m", "coterie", *words]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"coterie {' '.join(words)} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def commands() -> None:
    """Run the command line from the demo to a prediction."""
    run("demo", "--quiet")
    table = "coterie-demo/iris.csv"
    report = Path("coterie-demo/report.html").read_text(encoding="utf-8")
    assert "<html" in report
    assert len(report) > 100_000, "the report of the demo is too small"
    result = json.loads(
        run("cluster", table, "--id", "flower", "--truth", "species", "--seed", "0", "--json")
    )
    assert result["n_objects"] == 150, "the summary of a clustering has no 150 objects"
    run("cluster", table, "--id", "flower", "--truth", "species", "--save-model", "m.npz", "-q")
    assert len(run("predict", "m.npz", table).splitlines()) == 151
    run("report", table, "--id", "flower", "--truth", "species", "--output", "r.html", "--quiet")
    assert Path("r.html").stat().st_size > 100_000
    run("choose", table, "--id", "flower", "--truth", "species", "--plot", "criteria.png")
    run("reproduce", "msteclust", "--quick", "--output", "paper", "--jobs", "1", "--quiet")
    assert list(Path("paper").rglob("*.csv")), "a reproduction wrote no table"


def plots() -> None:
    """Draw from Python."""
    import matplotlib

    matplotlib.use("agg")
    from coterie import LACA, datasets, plotting

    made = datasets.make_two_gaussian(random_state=0)
    labels = [[int(x > 8), int(x > 7), int(y > 4)] for x, y in made[0]]
    laca = LACA(n_clusters=2).fit(labels)
    for draw in (plotting.plot_coassociation, plotting.plot_confidence, plotting.plot_reliability):
        draw(laca).figure.savefig("plot.png")
    assert Path("plot.png").stat().st_size > 1_000


if __name__ == "__main__":
    commands()
    plots()
    print(f"coterie {coterie.__version__} in {Path(coterie.__file__).parent} works")
