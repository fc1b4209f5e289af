"""The grader's lines as code, each parsed once: the same few questions come after every move."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

_known: dict[str, tuple[CodeType, CodeType | None]] = {}


def parsed(text: str) -> tuple[CodeType, CodeType | None]:
    """Return lines as code, and their last expression, if they end with one, as code of its own.

    Raises:
        SyntaxError: if they are no Python.
    """
    if text not in _known:
        _known[text] = _parse(text)
    return _known[text]


def _parse(text: str) -> tuple[CodeType, CodeType | None]:
    tree = ast.parse(text)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    lines = compile(tree, "<grader>", "exec")
    if not isinstance(last, ast.Expr):
        return lines, None
    return lines, compile(ast.Expression(last.value), "<grader>", "eval")
