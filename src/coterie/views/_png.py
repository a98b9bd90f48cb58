"""Small pictures without a plotting library: indexed PNG files."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

__all__ = ["blue_png", "indexed_png", "png_data_uri"]

_LEVELS = 101
# From white over a medium to a dark blue, about even in lightness.
_STOPS = ((255, 255, 255), (198, 219, 239), (107, 174, 214), (33, 113, 181), (8, 48, 107))


def blue_png(shares: NDArray[np.float64]) -> bytes:
    """Return a picture of values in [0, 1], one pixel each, from white to dark blue."""
    stops = np.array(_STOPS, dtype=np.float64)
    at = np.linspace(0, len(stops) - 1, _LEVELS)
    palette = np.stack([np.interp(at, range(len(stops)), c) for c in stops.T], axis=1)
    levels = np.round(np.clip(shares, 0.0, 1.0) * (_LEVELS - 1)).astype(np.uint8)
    return indexed_png(levels, palette.round().astype(np.uint8))


def indexed_png(pixels: NDArray[np.uint8], palette: NDArray[np.uint8]) -> bytes:
    """Return a PNG file of `pixels`, which are rows of `palette` (red, green, blue)."""
    height, width = pixels.shape
    rows = np.zeros((height, width + 1), dtype=np.uint8)  # the first byte: no filter
    rows[:, 1:] = pixels
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", palette.tobytes()),
            _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + checksum


def png_data_uri(png: bytes) -> str:
    """Return a picture as an address that needs no file."""
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")
