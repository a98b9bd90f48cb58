"""Label rows and features in blocks: in memory, on disk or on a Dask cluster.

A method that is a sum over label rows, or a rule that assigns rows, runs on blocks. All sums are of
integers (real numbers are rounded to fixed point first), so that a result does not depend on how
rows are divided into blocks, or on the order in which blocks are done.
"""

from coterie.blocks._labels import (
    LabelBlocks,
    as_label_blocks,
    is_blocks,
    merge_distinct,
    on_all_codes,
)
from coterie.blocks._mapped import BlockColumn, Results
from coterie.blocks._rules import Lookup, Rule
from coterie.blocks._sources import BlockError, open_source
from coterie.blocks._sums import (
    SampleRows,
    draw_objects,
    draw_sample,
    fixed_point,
    reduce_rows,
    sample_rows,
    scale_for,
    sum_rows,
)

__all__ = [
    "BlockColumn",
    "BlockError",
    "LabelBlocks",
    "Lookup",
    "Results",
    "Rule",
    "SampleRows",
    "as_label_blocks",
    "draw_objects",
    "draw_sample",
    "fixed_point",
    "is_blocks",
    "merge_distinct",
    "on_all_codes",
    "open_source",
    "reduce_rows",
    "sample_rows",
    "scale_for",
    "sum_rows",
]
