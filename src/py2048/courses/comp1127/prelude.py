"""Define the names that examples use. Runs before each example.

This code runs in the submission's process, in which `main` is the student's module and py2048
cannot be imported.
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


def restore_given_names() -> None:
    """Undo an example's changes to gui and to the window frame.

    Examples replace functions of gui. Names that the program imported with ``from gui import *``
    are therefore bound to wrappers, which look up the function at each call.
    """
    given = vars(gui).setdefault("_given", {name: vars(gui)[name] for name in gui.__all__})
    vars(gui).update(given)

    def late_bound(name: str) -> Any:
        return lambda *args, **named: getattr(gui, name)(*args, **named)  # noqa: PLW0108

    for name, function in given.items():
        if vars(main).get(name) is function:
            setattr(main, name, late_bound(name))
    for frame, _ in gui_window.opened:
        for name in ("bind", "unbind"):
            vars(frame).pop(name, None)
    main.transition_value = 20
    if hasattr(main, "gui"):
        main.gui = gui


restore_given_names()
if hasattr(main, "random_slot") and not hasattr(main, "random_position"):
    random_position = main.random_position = main.random_slot
if hasattr(main, "find_key") and not hasattr(main, "find_identifier"):
    find_identifier = main.find_identifier = main.find_key
