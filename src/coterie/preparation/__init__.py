"""Tables as people have them: columns of all kinds in, numbers of fair weight out."""

from coterie.preparation._columns import Column
from coterie.preparation._expression import ExpressionPreparation
from coterie.preparation._table import TablePreparation

__all__ = ["Column", "ExpressionPreparation", "TablePreparation"]
