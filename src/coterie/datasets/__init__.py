"""Data sets by name, and generators of the synthetic sets that the papers use."""

from coterie.datasets._load import Dataset, available, load
from coterie.datasets._synthetic import (
    make_cigar,
    make_complex_image,
    make_half_rings,
    make_noisy_classes,
    make_three_gaussian,
    make_three_paths,
    make_two_gaussian,
    make_two_spirals,
)

__all__ = [
    "Dataset",
    "available",
    "load",
    "make_cigar",
    "make_complex_image",
    "make_half_rings",
    "make_noisy_classes",
    "make_three_gaussian",
    "make_three_paths",
    "make_two_gaussian",
    "make_two_spirals",
]
