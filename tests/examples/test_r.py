"""The R scripts in examples/r run as written, and R's lists and missing values are understood."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RSCRIPT = shutil.which("Rscript")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(RSCRIPT is None, reason="R is not installed (Debian: r-base-core)"),
]


def run_r(*arguments):
    environment = dict(os.environ, RETICULATE_PYTHON=sys.executable)
    environment["COTERIE"] = str(Path(sys.executable).with_name("coterie"))
    done = subprocess.run(
        [RSCRIPT, "--vanilla", *arguments], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def reticulate_is_missing():
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        return "this Python has no shared library, which reticulate needs"
    known = run_r("-e", "cat(requireNamespace('reticulate', quietly = TRUE))")
    return "" if known == "TRUE" else "reticulate is not installed (Debian: r-cran-reticulate)"


@pytest.fixture
def reticulate():
    reason = reticulate_is_missing()
    if reason:
        pytest.skip(reason)


def table_of(printed):
    """Return the counts of clusters and species that a script printed."""
    rows = re.findall(r"^ +\d+ +(\d+) +(\d+) +(\d+)$", printed, re.MULTILINE)
    return [tuple(map(int, row)) for row in rows]


def assert_flowers_are_found(printed):
    counts = table_of(printed)
    assert len(counts) == 3
    assert sum(map(sum, counts)) == 150
    assert any(row[0] == 50 and sum(row) == 50 for row in counts)  # setosa is apart


def test_script_through_reticulate(reticulate):
    printed = run_r(str(ROOT / "examples/r/consensus.R"))
    assert "Ensemble(150 objects, 8 partitions with 2 to 8 clusters" in printed
    assert "missing)" in printed
    assert_flowers_are_found(printed)


def test_script_through_the_command_line():
    printed = run_r(str(ROOT / "examples/r/command_line.R"))
    assert_flowers_are_found(printed)
    assert re.search(r"iris-\d+", printed)


LISTS = """
library(reticulate)
coterie <- import("coterie", convert = FALSE)
runs <- list(a = c(1L, 1L, NA, 2L), b = c("x", NA, "y", "y"), c = factor(c("p", "p", "q", NA)),
             d = c(1, 1, NaN, 5))
show <- function(value) cat(import_builtins()$str(import("json")$dumps(value)), "\\n")
for (labels in list(runs, unname(runs))) {
  ensemble <- coterie$Ensemble(labels)
  show(ensemble$labels$tolist())
  show(py_to_r(import_builtins(convert = FALSE)$list(ensemble$names)))
}
show(coterie$EAC(n_clusters = 2L)$fit_predict(unname(runs))$tolist())
show(coterie$HBGF(n_clusters = 2L, random_state = 0)$fit(runs)$labels_$tolist())
X <- import("polars", convert = FALSE)$DataFrame(as.list(iris[, 1:4]))
model <- coterie$ConsensusClustering(n_clusters = 3L, consensus = "hbgf", random_state = 0)$fit(X)
show(model$labels_$tolist())
float <- try(coterie$EAC(n_clusters = 2)$fit(runs), silent = TRUE)
show(grepl("in R 2L", float))
py_run_string("
import coterie, json
print(json.dumps(coterie.Ensemble([[0, 'NA', 2], [1, 'b', 2]]).labels.tolist()))
")
"""


def test_lists_of_vectors_are_columns_and_na_is_missing(reticulate, tmp_path):
    script = tmp_path / "lists.R"
    script.write_text(LISTS)
    named, names, plain, numbers, eac, hbgf, features, float_is_named, rows = map(
        json.loads, run_r(str(script)).strip().splitlines()
    )
    assert named == plain == [[0, 0, 0, 0], [0, -1, 0, 0], [-1, 1, 1, -1], [1, 1, -1, 1]]
    assert names == ["a", "b", "c", "d"]
    assert numbers == ["partition_0", "partition_1", "partition_2", "partition_3"]
    assert eac == hbgf == [0, 0, 1, 1]
    assert len(features) == 150
    assert set(features) == {0, 1, 2}
    assert float_is_named is True
    # Python code inside R keeps Python's meaning: rows, and NA is a name.
    assert rows == [[0, 0, 0], [1, 1, 0]]
