"""Processes that we start: what they may import, and when they end."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Iterator

__all__ = ["end_with", "safe_children"]

_LOOK_EVERY = 1.0  # seconds between two looks for the parent


@contextlib.contextmanager
def safe_children() -> Iterator[None]:
    """Keep the working directory off the path of Python processes that are started meanwhile.

    A worker is started with ``python -m`` or ``-c``, which look for modules where they are
    started before anywhere else: a file of the user named ``random.py`` would be run.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("PYTHONSAFEPATH", None)
        else:
            os.environ["PYTHONSAFEPATH"] = before


def end_with(parent: int) -> None:
    """End this process, a worker, as soon as the process `parent` that started it is gone.

    A terminal sends Ctrl-C to the workers, too. They leave it to the parent, which ends them:
    otherwise a worker between two tasks would print a traceback.
    """
    if os.name == "posix" and os.getpid() != parent:
        with contextlib.suppress(ValueError):  # not in the main thread: there are no signals
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY)
    os._exit(1)
