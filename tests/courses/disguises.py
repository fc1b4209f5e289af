"""Right programs from ``alike.toml``, and copies disguised as students disguise them."""

from __future__ import annotations

import ast
import builtins
import random
import tomllib
from collections import defaultdict
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

from py2048.courses import COURSES
from py2048.courses.ist.tasks import PORTUGUESE

PROGRAMS = tomllib.loads(Path(__file__).with_name("alike.toml").read_text("utf-8"))
STARTER = (COURSES["cmput175"].starter / "game.py").read_text("utf-8")
ASKED = STARTER + (COURSES["ist"].starter / "project.py").read_text("utf-8")
ASKED += "".join(f"def {name}(" for name in PORTUGUESE.values())
DEAD = (
    "spare_{n} = {k}", "note_{n} = [{k}, {k}]", "info_{n} = len('text') + {k}", "'a remark'",
    "if False:\n    other_{n} = str({k})", "for _{n} in range(0):\n    pass", "pass",
)  # fmt: skip
MIRRORED = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq}
Scope = ast.ClassDef | ast.Module


def whole(course: str, text: str) -> str:
    """A program. Those for cmput175 are methods for the starter with its commented lines."""
    if course == "ist":
        return text
    start = STARTER.replace("# for _ in", "for _ in").replace("#     self.ass", "    self.ass")
    start = start.replace("# Task 6: update the list", "self.game.updateEmptiesSet()  # the list")
    return start.replace("\n\nclass Game", f"{text}\n\nclass Game")


def names(nodes: list[ast.stmt], kind: type) -> set[str]:
    """The variables that statements load or store, except those of comprehensions."""
    walked = [n for node in nodes for n in ast.walk(node)]
    inner = {id(n) for c in walked if isinstance(c, ast.comprehension) for n in ast.walk(c.target)}
    found = (n for n in walked if isinstance(n, ast.Name) and isinstance(n.ctx, kind))
    return {n.id for n in found if kind is ast.Load or id(n) not in inner}


def functions_of(scope: Scope) -> list[ast.FunctionDef]:
    """The functions that can be cut."""
    found = [node for node in scope.body if isinstance(node, ast.FunctionDef)]
    return [f for f in found if not any(isinstance(n, ast.Yield | ast.alias) for n in ast.walk(f))]


def add(scope: Scope, function: ast.FunctionDef, name: str, *passed: str) -> ast.FunctionDef:
    """Add an empty function, and replace the end of another one by a call."""
    own = ["self"] if isinstance(scope, ast.ClassDef) else []
    new = ast.parse(f"def {name}({', '.join([*own, *passed])}): pass").body[0]
    function.body += ast.parse(f"return {'self.' * len(own)}{name}({', '.join(passed)})").body
    return new


def renamed(scope: Scope, draw: random.Random) -> None:
    """Give new names to variables and to functions that the course does not ask for."""
    walked = list(ast.walk(scope))
    functions = {n.name for n in walked if isinstance(n, ast.FunctionDef)}
    own = {n.id for n in walked if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    walked = [n for n in walked if not isinstance(n, ast.alias | ast.keyword)]
    own |= {getattr(n, "arg", getattr(n, "name", "")) for n in walked} - {None}
    words = {w for w in own if w and f"def {w}(" not in ASKED and w not in dir(builtins)}
    words = sorted(w for w in words - {"self"} if not w.startswith("__"))
    new = {word: f"{draw.choice('abcdexyz')}{n}" for n, word in enumerate(words)}
    for n in walked:
        if isinstance(n, ast.Attribute) and n.attr not in functions:
            continue
        for field in ("id", "arg", "name", "attr"):
            if getattr(n, field, None) in new:
                setattr(n, field, new[getattr(n, field)])


def reordered(scope: Scope, draw: random.Random) -> None:
    """Shuffle the functions and classes."""
    parts = [n for n in scope.body if isinstance(n, ast.FunctionDef | ast.ClassDef)]
    draw.shuffle(parts)
    others = [n for n in scope.body if n not in parts]
    scope.body.sort(key=lambda n: parts.index(n) if n in parts else others.index(n) - 1000)


def padded(scope: Scope, draw: random.Random) -> None:
    """Put dead statements between the others."""
    nodes = [node for function in scope.body for node in ast.walk(function)]
    found = [getattr(node, name, None) for node in nodes for name in ("body", "orelse")]
    for block in [block for block in found if isinstance(block, list) and block]:
        for n in range(draw.randrange(1, 2 + len(block))):
            dead = draw.choice(DEAD).format(n=n, k=draw.randrange(9))
            at = draw.randrange(len(block))
            block[at:at] = ast.parse(dead).body


def split(scope: Scope, draw: random.Random) -> None:
    """Move the end of each function into a new one."""
    for function in functions_of(scope):
        if len(function.body) < 3:
            continue
        at = draw.randrange(1, len(function.body) - 1)
        first, rest = function.body[:at], function.body[at:]
        known = {arg.arg for arg in function.args.args} | names(first, ast.Store)
        known |= {n.name for n in first if isinstance(n, ast.FunctionDef)}
        passed = sorted(names(rest, ast.Load) & known - {"self"})
        function.body = first
        new = add(scope, function, f"{function.name}_rest", *passed)
        new.body = rest
        scope.body.append(new)


def merged(scope: Scope, draw: random.Random) -> None:
    """Put the functions with the most common parameters into a single one."""
    alike: dict[str, list[ast.FunctionDef]] = defaultdict(list)
    for function in functions_of(scope):
        alike[ast.unparse(function.args)].append(function)
    branch: list[ast.stmt] = []
    for n, function in enumerate(max(alike.values(), key=len)):
        test = ast.parse(f"which == {n}").body[0].value
        branch = [ast.If(test, function.body, branch)]
        passed = [arg.arg for arg in function.args.args if arg.arg != "self"]
        function.body = []
        new = add(scope, function, "together", "which", *passed)
        function.body[0].value.args[0] = ast.Constant(n)
    new.body = branch
    scope.body.append(new)


def reworded(scope: Scope, draw: random.Random) -> None:
    """Mirror comparisons, swap the branches of conditions, and expand ``+=``."""

    class Reworder(ast.NodeTransformer):
        def visit_AugAssign(self, node):
            load = deepcopy(node.target)
            load.ctx = ast.Load()
            return ast.Assign([node.target], ast.BinOp(load, node.op, node.value))

        def visit_Compare(self, node):
            if len(node.ops) == 1 and (mirrored := MIRRORED.get(type(node.ops[0]))):
                return ast.Compare(node.comparators[0], [mirrored()], [node.left])
            return node

        def visit_If(self, node):
            self.generic_visit(node)
            if not node.orelse or isinstance(node.orelse[0], ast.If):
                return node
            return ast.If(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)

    Reworder().visit(scope)


SINGLE = (renamed, reordered, padded, split, merged, reworded)
DISGUISES: dict[str, tuple[Callable, ...]] = {step.__name__: (step,) for step in SINGLE}
DISGUISES["all"] = (reworded, split, merged, padded, reordered, renamed)


def disguised(course: str, name: str, kind: str) -> str:
    """A copy of a program, changed in one way or in all of them."""
    head = "class Grid:\n" * (course == "cmput175")
    tree = ast.parse(head + PROGRAMS[course][name])
    for step in DISGUISES[kind]:
        step(tree.body[0] if head else tree, random.Random(f"{name} {kind}"))
    text = ast.unparse(ast.fix_missing_locations(tree))
    return whole(course, "\n" + (text.partition("\n")[2] if head else text) + "\n")
