"""The description of the JSON API, in OpenAPI 3.1, from the types of its messages and answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from py2048 import __version__
from py2048.server.schema import ErrorAnswer

Json = dict[str, Any]
JSON, NDJSON = "application/json", "application/x-ndjson"
View = Callable[[Request], Awaitable[Response]]
"""What answers requests."""

_GAME: Json = {
    "name": "game",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "maxLength": 32, "pattern": "^[0-9a-zA-Z]+$"},
}
_MEANINGS = {
    400: "The request cannot be read.",
    401: "The token is not, or no longer, one of a program.",
    403: "This account may not see this game, or not play this kind of game.",
    404: "There is no such game.",
    409: "Not in this position of the game.",
    413: "The body is too large.",
    415: "The body has another type.",
    422: "The values make no sense.",
    429: "Too fast.",
    503: "The store cannot be reached.",
}
_TOKEN = {
    "type": "http",
    "scheme": "bearer",
    "description": "The token of a program; people make it on their account page.",
}
_LICENSE = {"name": "MIT", "identifier": "MIT"}


@dataclass(frozen=True)
class Endpoint:
    """An address of the API, what it takes and what it answers.

    Attributes:
        path: the address; ``{game}`` stands for the id of a game.
        view: answers a request; the first line of its docstring is the summary.
        answer: the type of the answer.
        body: the type of the request's body; with one the method is POST, without one GET.
        query: the type of the query.
        status: the status of the answer.
        also: statuses of errors besides those of what it takes.
        media: the type of the answer; `answer` describes each line of a stream.
    """

    path: str
    view: View
    answer: Any
    body: Any = None
    query: type[msgspec.Struct] | None = None
    status: int = 200
    also: tuple[int, ...] = ()
    media: str = JSON

    @property
    def errors(self) -> list[int]:
        """The statuses of errors."""
        found = {429, *self.also}
        if self.body is not None:
            found |= {400, 413, 422} if self.body == Json else {400, 413, 415, 422}
        if self.query is not None:
            found.add(422)
        if "{game}" in self.path:
            found |= {401, 403, 404, 422, 503}
        return sorted(found)

    @property
    def method(self) -> str:
        """The method of its requests."""
        return "GET" if self.body is None else "POST"

    @property
    def summary(self) -> str:
        """What it does, in one line without a full stop."""
        return (self.view.__doc__ or "").partition("\n")[0].rstrip(".")

    @property
    def fields(self) -> list[str]:
        """The names of what it takes."""
        return [
            field.encode_name
            for kind in (self.body, self.query)
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
            for field in msgspec.structs.fields(kind)
        ]


def document(endpoints: Iterable[Endpoint]) -> Json:
    """Return the description of the whole API."""
    endpoints = tuple(endpoints)
    types = [kind for each in endpoints for kind in (each.answer, each.body, each.query) if kind]
    schemas, components = msgspec.json.schema_components(
        [ErrorAnswer, *types], ref_template="#/components/schemas/{name}"
    )
    schema_of = dict(zip(map(repr, [ErrorAnswer, *types]), schemas, strict=True))
    paths: Json = {}
    for endpoint in endpoints:
        path = paths.setdefault(endpoint.path, {})
        if "{game}" in endpoint.path:
            path["parameters"] = [_GAME]
        path[endpoint.method.lower()] = _operation(endpoint, schema_of, components)
    for endpoint in endpoints:  # a query is described by its parameters
        components.pop(getattr(endpoint.query, "__name__", ""), None)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "py2048",
            "version": __version__,
            "description": "Boards, games, records, verification and hints for programs.",
            "license": _LICENSE,
        },
        "components": {"securitySchemes": {"token": _TOKEN}, "schemas": components},
        "paths": paths,
    }


def _operation(endpoint: Endpoint, schema_of: Json, components: Json) -> Json:
    answer = {endpoint.media: {"schema": schema_of[repr(endpoint.answer)]}}
    responses: Json = {str(endpoint.status): {"description": endpoint.summary, "content": answer}}
    for status in endpoint.errors:
        error = _json(schema_of[repr(ErrorAnswer)])
        responses[str(status)] = {"description": _MEANINGS[status], "content": error}
    operation: Json = {"summary": endpoint.summary, "responses": responses}
    if endpoint.path.startswith(
        ("/api/bot", "/api/games")
    ):  # the token of a program may speak for it
        operation["security"] = [{}, {"token": []}]
    if endpoint.query is not None:
        fields = components[endpoint.query.__name__]["properties"]
        operation["parameters"] = [
            {"name": name, "in": "query", "schema": field} for name, field in fields.items()
        ]
    if endpoint.body is not None:
        body = _json(schema_of[repr(endpoint.body)])
        operation["requestBody"] = {"required": True, "content": body}
    return operation


def _json(schema: Json) -> Json:
    return {JSON: {"schema": schema}}
