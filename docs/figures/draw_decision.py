"""Draw the decision figure of "Which method when".

``python docs/figures/draw_decision.py`` writes ``docs/figures/which-method.png``.
"""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

QUESTIONS = (
    ("Do you have features,\nnot clusterings?", "ConsensusClustering", "makes partitions, LWEA"),
    ("Soft partitions, or clusters\nin different features?", "WBPA, WSBPA", "with LACEnsemble"),
    ("Do you want degrees of\nmembership?", "PEACE", "millions: MixtureModel"),
    ("Several algorithms, each\nrun many times?", "MSTEClust", "no validity: PWEC"),
    ("Long, bent or nested\nclusters?", "HNE", "or EAC, single linkage"),
    ("Must the number of clusters\nbe found by the method?", "LACA", "or EAC, HNE, MSTEClust"),
    ("More than some ten\nthousand distinct rows?", "LWGP", "or HBGF"),
)
LAST = ("LWEA", "or EAC, easy to explain")
INK, EDGE, QUESTION, ANSWER = "#1f2933", "#8a929c", "#f3f4f6", "#d9ebf7"


def box(ax: Axes, x: float, y: float, width: float, text: str, note: str, colour: str) -> None:
    """Draw a box with a text, and a smaller one below it."""
    patch = plt.Rectangle((x, y - 0.36), width, 0.72, facecolor=colour, edgecolor=EDGE, lw=1)
    ax.add_patch(patch)
    weight = "bold" if note else "normal"
    height = y + 0.12 if note else y
    middle = x + width / 2
    ax.text(middle, height, text, ha="center", va="center", fontsize=10, color=INK, weight=weight)
    ax.text(middle, y - 0.19, note, ha="center", va="center", fontsize=8.5, color=INK)


def arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], word: str) -> None:
    """Draw an arrow with a word beside it."""
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": EDGE, "lw": 1.3})
    across = start[1] == end[1]
    x = (start[0] + end[0]) / 2 + (0 if across else 0.1)
    y = (start[1] + end[1]) / 2 + (0.09 if across else 0)
    place = {"ha": "center", "va": "bottom"} if across else {"ha": "left", "va": "center"}
    ax.text(x, y, word, fontsize=9, color=INK, **place)


def main() -> None:
    """Draw and save."""
    _, ax = plt.subplots(figsize=(6.4, 8.4), layout="constrained")
    for row, (question, method, note) in enumerate(QUESTIONS):
        y = -1.12 * row
        box(ax, 0, y, 3.0, question, "", QUESTION)
        box(ax, 4.0, y, 2.6, method, note, ANSWER)
        arrow(ax, (3.0, y), (4.0, y), "yes")
        arrow(ax, (1.5, y - 0.36), (1.5, y - 0.76), "no")
    box(ax, 0, -1.12 * len(QUESTIONS), 3.0, *LAST, ANSWER)
    ax.set_xlim(-0.1, 6.75)
    ax.set_ylim(-1.12 * len(QUESTIONS) - 0.45, 0.45)
    ax.axis("off")
    plt.savefig(Path(__file__).with_name("which-method.png"), dpi=130)


if __name__ == "__main__":
    main()
