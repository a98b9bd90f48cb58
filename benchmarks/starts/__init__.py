"""How fast PEACE's two solvers are from random starts, and how high they get."""
