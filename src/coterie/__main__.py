"""``python -m coterie``: the command line."""

from coterie.cli import main

main()
