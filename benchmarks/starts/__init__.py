"""How fast PEACE's two solvers are from the same starts, and how high they get."""
