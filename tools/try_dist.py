"""Install each file of a directory into an empty environment of its own and try it there.

``python tools/try_dist.py dist`` runs `smoke.py` for wheel and sdist outside the checkout, and mypy
on `typed_example.py` against the wheel, as a user's type checker sees it.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

TOOLS = Path(__file__).resolve().parent


def run(*words: object, cwd: Path) -> None:
    """Run a command; stop at the first that fails."""
    print("$", *words, flush=True)
    if code := subprocess.run([str(word) for word in words], cwd=cwd).returncode:
        sys.exit(code)


def try_file(path: Path, cwd: Path) -> None:
    """Install one wheel or sdist with what the report needs, and use it."""
    venv.create(cwd / "env", with_pip=True)
    python = cwd / "env" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, f"{path}[report]", cwd=cwd)
    (cwd / "empty").mkdir()
    run(python, "-I", TOOLS / "smoke.py", cwd=cwd / "empty")
    if path.suffix == ".whl":
        example = TOOLS / "typed_example.py"
        options = ["--strict", "--python-executable", python, "--cache-dir", cwd / "mypy"]
        run(sys.executable, "-m", "mypy", *options, example, cwd=cwd / "empty")


if __name__ == "__main__":
    files = sorted(Path(sys.argv[1]).resolve().glob("coterie-*"))
    if len(files) != 2:
        sys.exit(f"{sys.argv[1]} must hold one wheel and one sdist; it holds {len(files)} files")
    for file in files:
        with tempfile.TemporaryDirectory() as directory:
            try_file(file, Path(directory))
