"""Preparing tables: columns of any kind become features of comparable weight."""

from coterie.preparation._columns import Column
from coterie.preparation._expression import ExpressionPreparation
from coterie.preparation._table import TablePreparation

__all__ = ["Column", "ExpressionPreparation", "TablePreparation"]
