"""Right versions of the program's functions, to be put into a submission that is checked.

A task may be right although a function that it builds on is wrong. Then it is tried again
with our functions in place of all the student's but the one that is asked for. They are the
functions of the reference solution, rewritten to find everything that the document names in
the student's module.
"""

from __future__ import annotations

import ast
import inspect

from py2048.courses.comp1127 import main

DOCUMENT_NAMES = frozenset(
    {
        *("grid", "helper", "controls", "transition_value"),
        *("empty_slots", "random_position", "add_random_number", "find_identifier"),
        *("update_grid", "animate_movement", "move", "move_all"),
        *("move_all_down", "move_all_up", "move_all_right", "move_all_left"),
        *("keyboard_callback", "bind", "unbind", "merge", "is_game_over"),
    }
)
CONSTANTS = frozenset({"UP", "DOWN", "RIGHT", "LEFT", "steps"})
ALIASES = {"random_position": "random_slot", "find_identifier": "find_key"}

_INSTALL = """
parts = {{'main': main, 'gui': gui}}
exec({source!r}, parts)
for name, value in {constants!r}.items():
    if not hasattr(main, name):
        setattr(main, name, value)
for name, other in {names!r}:
    old, new = getattr(main, name, None), parts[other]
    setattr(main, name, new)
    tables = [value for key, value in vars(main).items() if key[0] != '_' and type(value) is dict]
    for table in tables if old else []:
        for key in [key for key, value in table.items() if value is old]:
            table[key] = new
"""


class _InTheModule(ast.NodeTransformer):
    """Look the document's names up in the student's module."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id not in DOCUMENT_NAMES:
            return node
        return ast.Attribute(ast.Name("main", ast.Load()), node.id, node.ctx)


def all_but(*asked: str) -> str:
    """Code that puts our functions into the module ``main`` in place of all but `asked`."""
    tree = ast.parse(inspect.getsource(main))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    names = [node.name for node in functions if node.name in DOCUMENT_NAMES - set(asked)]
    source = ast.unparse(
        ast.Module([*_needed(tree), *(_InTheModule().visit(node) for node in functions)], [])
    )
    pairs = [(name, name) for name in names]
    pairs += [(ALIASES[name], name) for name in names if name in ALIASES]
    constants = {
        "helper": main.helper,
        "controls": main.controls,
        "transition_value": main.transition_value,
    }
    return _INSTALL.format(source=source, constants=constants, names=pairs)


def _needed(tree: ast.Module) -> list[ast.stmt]:
    """Return the imports and constants that our functions need around them."""
    return [node for node in tree.body if _is_import(node) or _is_constant(node)]


def _is_import(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom):
        return not (node.module or "").startswith("py2048")
    return isinstance(node, ast.Import)


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in CONSTANTS
