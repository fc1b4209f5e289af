"""Player registry, based on the entry point group ``py2048.players``.

Built-in players are registered in ``pyproject.toml``, like plugins. Each name refers to a callable
whose keyword parameters are the player's options.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from unicodedata import category

from py2048.core.errors import PlayerError, Py2048Error, check_kind, shown, unknown
from py2048.players.player import Player

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "py2048.players"
MAX_SPEC = 1000
"""Maximum length of a spec, because specs are stored with games and shown in messages."""
UNPRINTABLE = "Cc", "Cs"
"""Unicode categories that are not allowed in a spec: control characters and lone surrogates."""


@cache
def entries() -> Mapping[str, EntryPoint]:
    """Return the entry points of all players by name (cached)."""
    from importlib.metadata import entry_points  # slow to import

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def list_players() -> tuple[str, ...]:
    """Return the names of all players, built-in and from plugins, in alphabetical order."""
    return tuple(sorted(entries()))


def describe_player(name: str) -> str:
    """Return a one-line description of a player and its options.

    If a plugin fails to load, return the error message instead.

    Raises:
        PlayerError: If no player has this name.
    """
    _check_name(name)
    try:
        factory = _factory(name)
        options = [str(parameter) for parameter in player_options(name).values()]
    except PlayerError as error:
        return str(error)
    summary = (inspect.getdoc(factory) or "").partition("\n")[0]
    return f"{summary} Options: {', '.join(options)}." if options else summary


def player_options(name: str) -> Mapping[str, inspect.Parameter]:
    """Return a player's options.

    Raises:
        PlayerError: If no player has this name, or the player fails to load.
    """
    return _parameters(name, _factory(name))


def make_player(spec: str) -> Player:
    """Create a player from a spec such as ``name`` or ``name:key=value,…``.

    >>> make_player("random:seed=1").name
    'random:seed=1'

    Raises:
        PlayerError: If the name or an option is unknown, or a value is invalid. The message quotes
            the invalid part and suggests the closest match.
    """
    _check_text(spec)
    name, colon, rest = spec.strip().partition(":")
    factory = _factory(name)
    options = _options(name, factory, rest) if colon else {}
    try:
        player = factory(**options)
    except (TypeError, ValueError, Py2048Error) as error:
        raise PlayerError(f"player {shown(spec)}: {error}") from None
    except Exception as error:  # plugins may raise anything
        raise PlayerError(f"player {shown(spec)} cannot be created: {_one_line(error)}") from error
    if not isinstance(player, Player):
        raise PlayerError(
            f"player {shown(spec)} is invalid: {shown(player)} lacks name, choose or rate"
        )
    return player


def with_seed(spec: str, seed: int) -> str:
    """Add a ``seed`` option to a spec without a seed, if the player supports this option.

    >>> with_seed("random", 5), with_seed("random:seed=1", 5), with_seed("greedy", 5)
    ('random:seed=5', 'random:seed=1', 'greedy')

    Raises:
        PlayerError: If no player has this name.
    """
    name, colon, rest = spec.strip().partition(":")
    if "seed" not in player_options(name):
        return spec
    if "seed" in [part.partition("=")[0].strip() for part in rest.split(",")]:
        return spec
    return f"{spec},seed={seed}" if colon else f"{spec}:seed={seed}"


def _check_text(spec: str) -> None:
    check_kind(spec, str, PlayerError, "a player spec: give one such as 'greedy'")
    if len(spec) > MAX_SPEC:
        raise PlayerError(
            f"player {shown(spec)}: a spec has at most {MAX_SPEC:,} characters, not {len(spec):,}"
        )
    for sign in spec.strip():
        if category(sign) in UNPRINTABLE:
            raise PlayerError(f"player {shown(spec)}: {sign!r} is not printable; leave it out")


def _check_name(name: str) -> None:
    if name not in entries():
        raise PlayerError(f"no player is called {unknown(name, entries())}")


def _factory(name: str) -> Callable[..., Player]:
    _check_name(name)
    try:
        factory: Callable[..., Player] = entries()[name].load()
    except Exception as error:  # plugins may raise anything
        raise PlayerError(f"the player {name!r} cannot be loaded: {_one_line(error)}") from error
    return factory


def _parameters(name: str, factory: Callable[..., Player]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(factory, eval_str=True).parameters
    except Exception as error:  # evaluates the plugin's annotations
        raise PlayerError(
            f"the options of player {name!r} are unknown: {_one_line(error)}"
        ) from error


def _one_line(error: Exception) -> str:
    """Format an exception and its type in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def _options(name: str, factory: Callable[..., Player], text: str) -> dict[str, Any]:
    parameters = _parameters(name, factory)
    options = {}
    for part in text.split(","):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not parameters:
            raise PlayerError(f"player {name!r} has no options: leave out {shown(f':{text}')}")
        if key not in parameters:
            raise PlayerError(f"player {name!r} has no option {unknown(key, parameters)}")
        if not equals or not value:
            raise PlayerError(
                f"option {key!r} of player {name!r} lacks a value: write {key}=…, or leave it out"
            )
        if key in options:
            raise PlayerError(f"option {key!r} of player {name!r} is given twice: leave one out")
        options[key] = _converted(name, key, value, parameters[key].annotation)
    return options


def _converted(name: str, key: str, text: str, annotation: Any) -> Any:
    """Convert a string to the first type in the annotation that accepts the string."""
    accepted = getattr(annotation, "__args__", (annotation,))
    for kind in (int, float):
        if kind in accepted:
            try:
                return kind(text)
            except ValueError:
                continue
    if bool in accepted and text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    if str in accepted or annotation is inspect.Parameter.empty:
        return text
    wanted = " or ".join(kind.__name__ for kind in accepted if kind is not type(None))
    raise PlayerError(f"option {key}={shown(text)} of player {name!r} must be of type {wanted}")


_BOOLEANS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
