"""The table of attacks: name, the function that runs one case, its share of the time."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ATTACKS", "Attack"]


class Attack(NamedTuple):
    """A kind of case."""

    where: str
    """``module:function``; the function takes a random generator and a folder of its own."""
    share: float
    """Share of the processor time."""
    patience: float = 60.0
    """Seconds after which a case hangs; longer where a case runs several commands."""


ATTACKS = {
    "ensembles": Attack("soak.ensembles:attack", 0.34),
    "choosing": Attack("soak.ensembles:attack_choosing", 0.06),
    "features": Attack("soak.features:attack", 0.10),
    "files": Attack("soak.files:attack", 0.16),
    "readers": Attack("soak.readers:attack", 0.05, patience=180.0),
    "damage": Attack("soak.damage:attack", 0.08),
    "signals": Attack("soak.faults:attack_signals", 0.18, patience=180.0),
    "places": Attack("soak.faults:attack_places", 0.08, patience=180.0),
}
