"""Functions short enough to read, kernels with few parameters, layers of kernels apart."""

import ast
from pathlib import Path

import coterie

SOURCE = Path(coterie.__file__).parent
MOST_LINES = 80
MOST_PARAMETERS = 8


def functions(folder):
    """Yield (name, syntax tree, lines of the file) of every function below a folder."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(SOURCE)}: {node.name}", node, text.splitlines()


def lines_of_code(function, lines):
    """Return the lines of a function's body without docstring, comments and empty lines."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    if not body:
        return 0
    code = [line.strip() for line in lines[body[0].lineno - 1 : function.end_lineno]]
    return sum(bool(line) and not line.startswith("#") for line in code)


def n_parameters(function):
    arguments = function.args
    return len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)


def test_no_function_is_longer_than_a_screen():
    sizes = {name: lines_of_code(node, lines) for name, node, lines in functions(SOURCE)}
    assert len(sizes) > 1000
    assert {name: n for name, n in sizes.items() if n > MOST_LINES} == {}


def test_no_kernel_has_many_parameters():
    sizes = {name: n_parameters(node) for name, node, _ in functions(SOURCE / "_kernels")}
    assert len(sizes) > 100
    assert {name: n for name, n in sizes.items() if n > MOST_PARAMETERS} == {}


def test_lines_of_code_leave_out_comments_and_docstrings():
    lines = ["def f(", "    a, *, b", "):", '    """Doc."""', "    # why", "", "    x = ("]
    lines += ["        a", "    )", "    return x"]
    function = ast.parse("\n".join(lines)).body[0]
    assert lines_of_code(function, lines) == 4
    assert n_parameters(function) == 2
