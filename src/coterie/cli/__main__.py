"""``python -m coterie.cli``."""

from coterie.cli import main

main()
