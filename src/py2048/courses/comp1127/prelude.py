"""Code that runs beside a submission before each example: the names that examples use.

This file is run in the submission's process, where `main` is the student's module, and where
nothing of py2048 can be imported.
"""

from __future__ import annotations

from types import SimpleNamespace as SimpleNamespace

import gui  # type: ignore[import-not-found]
import gui_window  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

main: Any = globals()["main"]
UP, DOWN, RIGHT, LEFT = 1, 2, 3, 4


def put_back_what_was_given() -> None:
    """Undo what an example has put in place of gui's functions, and of the frames' methods.

    A program that has taken them by ``from gui import *`` finds them in gui when it runs.
    """
    given = vars(gui).setdefault("_given", {name: vars(gui)[name] for name in gui.__all__})
    vars(gui).update(given)

    def looked_up(name: str) -> Any:
        return lambda *args, **named: getattr(gui, name)(*args, **named)  # noqa: PLW0108

    for name, function in given.items():
        if vars(main).get(name) is function:
            setattr(main, name, looked_up(name))
    for frame, _ in gui_window.opened:
        for name in ("bind", "unbind"):
            vars(frame).pop(name, None)
    main.transition_value = 20
    if hasattr(main, "gui"):
        main.gui = gui


put_back_what_was_given()
if hasattr(main, "random_slot") and not hasattr(main, "random_position"):
    random_position = main.random_position = main.random_slot
if hasattr(main, "find_key") and not hasattr(main, "find_identifier"):
    find_identifier = main.find_identifier = main.find_key
