"""Write TypeScript declarations of the web protocol (`make messages`).

`src/py2048/server/protocol.d.ts` declares the structs of `py2048.server.schema`. The TypeScript
compiler uses this file to check the website's JavaScript (`make javascript`), and browsers never
load it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import msgspec.inspect as mi
from msgspec import UNSET

from py2048.server import schema

PATH = Path(schema.__file__).with_name("protocol.d.ts")
_HEAD = "// Generated from schema.py by scripts/protocol_types.py (`make messages`). Do not edit.\n"
_UNIONS: dict[str, tuple[type[msgspec.Struct], str]] = {
    "ServerMessage": (schema.Reply, "type"),
    "PageMessage": (schema.PageMessage, "type"),
    "PlayedEvent": (schema.GameEvent, "kind"),
}
"""The base class and the tag field of the structs in each union."""

_SIMPLE: dict[type[mi.Type], str] = {
    mi.BoolType: "boolean",
    mi.FloatType: "number",
    mi.IntType: "number",
    mi.NoneType: "null",
    mi.StrType: "string",
}


def structs() -> list[type[msgspec.Struct]]:
    """Return the structs that messages consist of, sorted by name."""
    found = [each for _, each in inspect.getmembers(schema, inspect.isclass)]
    ours = [each for each in found if each.__module__ == schema.__name__]
    named = [each for each in ours if issubclass(each, msgspec.Struct)]
    used = {schema.PlayedTurn, schema.ReviewedMove}
    bases = {base for each in named for base in each.__bases__} - used
    return [each for each in named if each not in bases]


def written(kind: mi.Type) -> str:
    """Return a type in TypeScript syntax."""
    match kind:
        case mi.Metadata(extra_json_schema={"enum": names}):
            return _one_of(names)
        case mi.Metadata(type=inner):
            return written(inner)
        case mi.LiteralType(values=values):
            return _one_of(values)
        case mi.StructType(cls=cls):
            return cls.__name__
        case mi.ListType(item_type=item) | mi.VarTupleType(item_type=item):
            return f"{_grouped(item)}[]"
        case mi.TupleType(item_types=items):
            return f"[{', '.join(map(written, items))}]"
        case mi.DictType(key_type=key, value_type=value):
            return f"{{ [name in {written(key)}]?: {written(value)} }}"
        case mi.UnionType(types=types):
            return " | ".join(written(each) for each in types if not _is_unset(each))
    return _SIMPLE[type(kind)]


def _one_of(values: Iterable[object]) -> str:
    return " | ".join(map(json.dumps, values))


def _grouped(kind: mi.Type) -> str:
    text = written(kind)
    return f"({text})" if " | " in text else text


def _is_unset(kind: mi.Type) -> bool:
    return isinstance(kind, mi.CustomType) and kind.cls is msgspec.UnsetType


def _members(kind: type[msgspec.Struct]) -> Iterator[str]:
    info: Any = mi.type_info(kind)
    if info.tag_field:
        yield f"{info.tag_field}: {json.dumps(info.tag)};"
    is_request = not issubclass(kind, schema.Reply)
    for field in info.fields:
        is_optional = field.default is UNSET or (is_request and not field.required)
        yield f"{field.encode_name}{'?' if is_optional else ''}: {written(field.type)};"


def declarations() -> str:
    """Return the text of `protocol.d.ts`."""
    lines = [_HEAD.rstrip(), "", "declare namespace Protocol {"]
    for kind in structs():
        members = "".join(f"\n    {member}" for member in _members(kind))
        lines.append(f"  interface {kind.__name__} {{{members}\n  }}\n")
    for name, (base, tag) in _UNIONS.items():
        messages = [
            kind.__name__
            for kind in structs()
            if issubclass(kind, base) and kind.__struct_config__.tag_field == tag
        ]
        lines.append(f"  type {name} =\n    | " + "\n    | ".join(messages) + ";\n")
    return "\n".join(lines).rstrip() + "\n}\n"


if __name__ == "__main__":
    PATH.write_text(declarations(), encoding="utf-8")
