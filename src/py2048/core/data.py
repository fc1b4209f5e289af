"""Read TOML files, and convert plain data to types."""

from __future__ import annotations

import functools
import operator
import tomllib
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import msgspec

from py2048.core.errors import Py2048Error, did_you_mean, os_errors_as, shown

T = TypeVar("T")


def read_toml(path: Path, kind: type[Py2048Error]) -> dict[str, Any]:
    """Read a TOML file; errors are of type `kind`."""
    try:
        with os_errors_as(kind, f"{path} cannot be read"):
            return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise kind(f"{path} is not valid TOML in UTF-8: {error}") from None


def convert(
    data: Any, kind: type[T], error_type: type[Py2048Error], source: object, above: str = ""
) -> T:
    """Convert plain data, such as parsed TOML, to a type.

    Args:
        data: The data.
        kind: The type.
        error_type: Type of the error that is raised.
        source: Beginning of the error message, such as the path of the file.
        above: Key of the data within the file; error messages prefix it to other keys.

    Raises:
        Py2048Error: If the data does not match the type. The message names the invalid key and its
            value.
    """
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `$")
        below = place.rstrip("`").strip(".").replace("[...]", "").split(".")
        below = [key for key in below if key]
        keys = ".".join([above] * bool(above) + below)
        if "unknown field" in reason:
            word = reason.split("`")[1]
            fields = get_type_hints(kind)[below[-1]] if below else kind
            near = did_you_mean(word, getattr(fields, "__struct_fields__", ()))
            raise error_type(
                f"{source}: {f'{keys}.{word}'.lstrip('.')} is not a setting{near}"
            ) from None
        try:
            value = f" = {shown(functools.reduce(operator.getitem, below, data))}" if below else ""
        except (KeyError, TypeError):
            value = ""
        where = f"{keys}{value}: " if keys else ""
        raise error_type(f"{source}: {where}{reason[:1].lower()}{reason[1:]}") from None
