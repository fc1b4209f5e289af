"""Right versions of what a task builds on, taken from our own reference solutions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from types import ModuleType

from py2048 import board, direction, errors
from py2048.rules import parts

# What the solutions use of py2048, which cannot be imported beside a submission.
_PARTS: tuple[Callable[..., object], ...] = (
    *(errors.Py2048Error, errors.CourseError, parts.Merging, direction.Direction),
    *(board.LineSlide, board.slide_line, board.lines, board.from_lines),
    *(board.slide, board.legal_directions),
)
_ENGINE = "\n".join(
    [
        "from __future__ import annotations",
        "from enum import Enum",
        "from typing import NamedTuple",
        *(inspect.getsource(part) for part in _PARTS),
    ]
)

_PATCH = """
def _patch(place, module):
    class Names(dict):
        def __missing__(self, name):
            return vars(module)[name]

    parts = Names(__name__='right')
    exec({engine!r}, parts)
    exec({source!r}, parts)
    ours = vars(parts[place.__name__]) if isinstance(place, type) else parts
    ours = {{name: ours[name] for name in {names!r}}}
    for name in {document!r}:
        parts.pop(name, None)
    for name, new in ours.items():
        old = vars(place).get(name)
        setattr(place, name, new)
        tables = [v for k, v in vars(module).items() if k[0] != '_' and type(v) is dict]
        for table in tables if old is not None else []:
            for key in [key for key, value in table.items() if value is old]:
                table[key] = new
_patch({place}, {module})
"""


def right_versions(
    solution: ModuleType,
    names: Collection[str],
    module: str,
    *,
    place: str = "",
    document: Collection[str] = (),
) -> str:
    """Code that puts functions of our `solution` into a submission in place of its own.

    They go into the submission's `module`, or to the class `place` in it. The names of the
    `document` are looked up there when they run, so that the submission's own versions and ours
    find each other, and also take their place in its tables.
    """
    source = inspect.getsource(solution)
    source = re.sub(
        r"^from py2048\.courses\.\w+ import (\w+)$", r"import \1", source, flags=re.MULTILINE
    )
    source = re.sub(r"^from py2048\S* import .*$", "", source, flags=re.MULTILINE)
    return _PATCH.format(
        engine=_ENGINE,
        source=source,
        names=tuple(names),
        document=tuple(document or names),
        place=place or module,
        module=module,
    )
