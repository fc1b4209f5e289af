"""The menus, made from the table of actions: every action, with its key."""

from __future__ import annotations

import sys
import tkinter as tk
from collections.abc import Callable, Iterable

from py2048.rules import list_rules
from py2048.ui.desktop.actions import ACTIONS, GAME, MENUS, PLAYER, VIEW, Action
from py2048.ui.desktop.presenter import PACES
from py2048.ui.desktop.style import colour_menu
from py2048.ui.shared.themes import THEMES, Theme

Act = Callable[[str], object]
GROUPS = ("open", "picture", "copy", "statistics", "quit", "undo")
"""The actions that begin a new group of lines in their menu."""


class Menus:
    """The menu bar.

    Attributes:
        rules: the name of the rules that are marked as chosen.
        theme: the name of the theme that is marked.
        speed: the speed of the animation that is marked, a key of `PACES`.
        animated: whether animation is marked as on.

    Args:
        root: the window.
        act: called with the name of the action that is chosen.
        choose: called with what a list offers and which of it is chosen: ``rules``, ``theme``,
            ``speed``, ``player``.
        players: the names of all players, asked for when their list opens.
    """

    def __init__(
        self,
        root: tk.Tk,
        act: Act,
        choose: Callable[[str, str], object],
        players: Callable[[], Iterable[str]],
    ) -> None:
        self._choose = choose
        self._players = players
        self.rules, self.theme = tk.StringVar(root), tk.StringVar(root)
        self.speed, self.player = tk.StringVar(root, "normal"), tk.StringVar(root)
        self.animated = tk.BooleanVar(root, value=True)
        self.bar = tk.Menu(root)
        self.menus = {name: self._add_menu(name, act) for name in MENUS}
        self._add_lists()
        root.configure(menu=self.bar)

    def _add_menu(self, name: str, act: Act) -> tk.Menu:
        menu = tk.Menu(self.bar, tearoff=False)
        for action in ACTIONS:
            if action.menu == name:
                if action.name in GROUPS:
                    menu.add_separator()
                self._add_line(menu, action, act)
        self.bar.add_cascade(label=name, menu=menu, underline=0)
        return menu

    def _add_line(self, menu: tk.Menu, action: Action, act: Act) -> None:
        if action.name == "animation":
            menu.add_checkbutton(
                label=action.title,
                accelerator=action.shown,
                variable=self.animated,
                command=lambda: act("animation"),
            )
            return
        menu.add_command(
            label=action.title,
            accelerator=_accelerator(action.shown),
            command=lambda: act(action.name),
        )

    def _add_lists(self) -> None:
        rules = [(each.name, each.name) for each in list_rules()]
        self._add_list(self.menus[GAME], "Rules", "rules", rules, self.rules, 3)
        themes = [(theme.title, theme.name) for theme in THEMES]
        self._add_list(self.menus[VIEW], "Theme", "theme", themes, self.theme, 1)
        speeds = [(name.capitalize(), name) for name in PACES]
        self._add_list(self.menus[VIEW], "Animation speed", "speed", speeds, self.speed, 3)
        players = self._add_list(self.menus[PLAYER], "Player", "player", [], self.player, 4)
        players.configure(postcommand=lambda: self._fill_players(players))

    def _add_list(
        self,
        menu: tk.Menu,
        label: str,
        what: str,
        entries: Iterable[tuple[str, str]],
        variable: tk.StringVar,
        index: int,
    ) -> tk.Menu:
        """Put a list to choose from into a menu, before the line at `index`."""
        choices = tk.Menu(menu, tearoff=False)
        for title, value in entries:
            self._add_choice(choices, title, what, value, variable)
        menu.insert_cascade(index, label=label, menu=choices)
        return choices

    def _add_choice(
        self, menu: tk.Menu, title: str, what: str, value: str, variable: tk.StringVar
    ) -> None:
        menu.add_radiobutton(
            label=title,
            value=value,
            variable=variable,
            command=lambda: self._choose(what, value),
        )

    def _fill_players(self, menu: tk.Menu) -> None:
        if menu.index("end") is None:
            for name in self._players():
                self._add_choice(menu, name, "player", name, self.player)

    def set_theme(self, theme: Theme, scale: float) -> None:
        """Change the colours."""
        self.theme.set(theme.name)
        if sys.platform == "darwin":
            return  # its menus are the system's
        waiting = [self.bar]
        while waiting:
            menu = waiting.pop()
            colour_menu(menu, theme, scale)
            waiting += [child for child in menu.winfo_children() if isinstance(child, tk.Menu)]


def _accelerator(shown: str) -> str:
    return shown.replace("Ctrl+", "Command+") if sys.platform == "darwin" else shown
