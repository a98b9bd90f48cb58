"""The fitted consensus of a model, and its attributes."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError

__all__ = ["fitted", "fitted_attribute"]


def fitted(model: Any) -> Any:
    """Return the fitted consensus of a method, a ConsensusClustering or a pipeline.

    Raises NotFittedError for a model without `labels_`.
    """
    if hasattr(model, "steps"):  # a pipeline
        model = model.steps[-1][1]
    model = getattr(model, "consensus_", model)
    if not hasattr(model, "labels_"):
        raise NotFittedError(
            f"model must be a fitted consensus method; got {type(model).__name__}. Call fit first."
        )
    return model


def fitted_attribute(model: Any, attribute: str, others: str) -> Any:
    """Return a fitted attribute; raise TypeError, with `others` as a hint, if there is none."""
    model = fitted(model)
    value = getattr(model, attribute, None)
    if value is None:
        raise TypeError(
            f"{type(model).__name__} has no {attribute}, which this plot shows. {others}"
        )
    return value
