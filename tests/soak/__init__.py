"""Random attacks on coterie: `python tests/soak`, or ``make soak``."""
