"""The description of the JSON API, in OpenAPI 3.1, and the same for people."""

from __future__ import annotations

import functools
import html
from typing import Any

from py2048 import __version__
from py2048.server.house import BOARDS
from py2048.server.table import BOT, CASUAL

Json = dict[str, Any]

_BOARD: Json = {
    "type": "array",
    "minItems": 1,
    "maxItems": 16,
    "items": {
        "type": "array",
        "minItems": 1,
        "maxItems": 16,
        "items": {"type": "integer", "minimum": 0},
    },
    "description": "Rows from the top, each a list of tiles; 0 is an empty cell.",
}
_DIRECTION: Json = {"type": "string", "enum": ["up", "down", "left", "right"]}
_RULES: Json = {
    "type": "string",
    "maxLength": 400,
    "description": "A preset such as classic, or a text such as classic:size=5x5.",
}
_ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string"}, "reason": {"type": "string"}},
}
_OBJECT: Json = {"type": "object"}
_LIST: Json = {"type": "array", "items": _OBJECT}
_STATE: Json = {
    "type": "object",
    "required": ["game", "version", "board", "score", "outcome", "legal"],
    "properties": {
        "game": {"type": "string"},
        "version": {"type": "integer"},
        "board": _BOARD,
        "score": {"type": "integer"},
        "outcome": {"type": "string"},
        "legal": {"type": "array", "items": _DIRECTION},
    },
}
_VERIFIED: Json = {
    "type": "object",
    "required": ["ok"],
    "properties": {"ok": {"type": "boolean"}, "error": {"type": "string"}},
}
_GAME: Json = {
    "name": "game",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "minLength": 1, "maxLength": 32, "pattern": "^[0-9a-zA-Z]+$"},
}
_MEANINGS = {
    400: "The request cannot be read.",
    401: "The token is not, or no longer, one of a program.",
    403: "This game, or this kind of games, is not for whoever asks.",
    404: "There is no such game.",
    409: "Not in this position of the game.",
    413: "The body is too large.",
    415: "The body has another type.",
    422: "The values make no sense.",
    429: "Too fast.",
    503: "The store cannot be reached.",
}


@functools.cache
def document() -> Json:
    """Return the description of the whole API."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "py2048",
            "version": __version__,
            "description": "Boards, games, records, verification and hints for programs.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "components": {
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token of a program; people make it on their account page.",
                }
            }
        },
        "paths": {
            "/api/rules": {"get": _operation("The presets", _LIST)},
            "/api/rules/check": {
                "get": _operation(
                    "What a rules text means here",
                    _OBJECT,
                    parameters=[_query("text", _RULES)],
                    errors=(422,),
                )
            },
            "/api/players": {"get": _operation("The computer players that may be asked", _LIST)},
            "/api/boards/slides": {
                "post": _operation(
                    "What each direction does to a board",
                    _OBJECT,
                    body=_body(["board"], board=_BOARD, rules=_RULES),
                    errors=(400, 413, 415, 422),
                )
            },
            "/api/hints": {
                "post": _operation(
                    "What a computer player would do, and what each direction is worth",
                    _OBJECT,
                    body=_body(
                        ["board"], board=_BOARD, rules=_RULES, player={"type": ["string", "null"]}
                    ),
                    errors=(400, 409, 413, 415, 422),
                )
            },
            "/api/records/verify": {
                "post": _operation(
                    "Whether a record keeps its rules; with a secret, whether its tiles are fair",
                    _VERIFIED,
                    body=_OBJECT,
                    parameters=[_query("secret", {"type": "string"})],
                    errors=(400, 413, 422),
                )
            },
            "/api/leaderboards": {"get": _leaderboards()},
            "/api/games": {
                "post": _operation(
                    "Begin a game: with a token a bot game, with a cookie a casual one",
                    _STATE,
                    body=_body([], rules=_RULES, mode={"type": "string", "enum": [BOT, CASUAL]}),
                    status=201,
                    errors=(400, 401, 403, 413, 415, 422, 503),
                    token=True,
                )
            },
            "/api/games/{game}": {
                "parameters": [_GAME],
                "get": _operation(
                    "How a game stands", _STATE, errors=(401, 403, 404, 422, 503), token=True
                ),
            },
            "/api/games/{game}/turns": {"parameters": [_GAME], "get": _turns()},
            "/api/games/{game}/record": {
                "parameters": [_GAME],
                "get": _operation(
                    "The record of a finished game",
                    _OBJECT,
                    errors=(401, 403, 404, 503),
                    token=True,
                ),
            },
            "/api/games/{game}/moves": {
                "parameters": [_GAME],
                "post": _operation(
                    "Slide; answered when it is on the disk",
                    _OBJECT,
                    body=_body(
                        ["number", "direction"],
                        number={"type": "integer", "minimum": 1, "maximum": 2**31 - 1},
                        direction=_DIRECTION,
                    ),
                    errors=(400, 401, 403, 404, 409, 413, 415, 422, 503),
                    token=True,
                ),
            },
        },
    }


def _leaderboards() -> Json:
    return _operation(
        "The best game of each player",
        _OBJECT,
        parameters=[
            _query("rules", _RULES),
            _query("board", {"type": "string", "enum": list(BOARDS)}),
            _query("period", {"type": "string", "enum": ["day", "week", "ever"]}),
        ],
        errors=(422, 503),
    )


def _turns() -> Json:
    return _operation(
        "The turns of a finished game, each with the board and the score after it",
        _OBJECT,
        parameters=[
            _query("from", {"type": "integer", "minimum": 0, "maximum": 10**9}),
            _query("limit", {"type": "integer", "minimum": 1, "maximum": 1000}),
        ],
        errors=(401, 403, 404, 422, 503),
        token=True,
    )


def _operation(
    summary: str,
    answer: Json,
    *,
    body: Json | None = None,
    parameters: list[Json] | None = None,
    status: int = 200,
    errors: tuple[int, ...] = (),
    token: bool = False,
) -> Json:
    responses = {str(status): {"description": summary, "content": _json(answer)}}
    for error in sorted({*errors, 429}):
        responses[str(error)] = {"description": _MEANINGS[error], "content": _json(_ERROR)}
    operation: Json = {"summary": summary, "responses": responses}
    if token:
        operation["security"] = [{}, {"token": []}]
    if parameters:
        operation["parameters"] = parameters
    if body is not None:
        operation["requestBody"] = {"required": True, "content": _json(body)}
    return operation


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _body(required: list[str], **properties: Json) -> Json:
    return {"type": "object", "required": required, "properties": properties}


def _query(name: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "schema": schema}


def page() -> str:
    """Return the description as a page for people, which needs nothing from elsewhere."""
    parts = [
        _section(method.upper(), path, item[method])
        for path, item in document()["paths"].items()
        for method in ("get", "post")
        if method in item
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>API · py2048</title>"
        '<link rel="stylesheet" href="/themes.css">'
        '<link rel="stylesheet" href="/static/css/base.css">'
        '</head><body><main id="main"><h1>The JSON API</h1>'
        '<p><a href="/api/openapi.json">OpenAPI description</a> · <a href="/">Play</a></p>'
        f"{''.join(parts)}</main></body></html>"
    )


def _section(method: str, path: str, operation: Json) -> str:
    fields = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    properties = fields.get("schema", {}).get("properties", {})
    names = [*properties, *(each["name"] for each in operation.get("parameters", []))]
    takes = f"<p>Takes: {', '.join(f'<code>{html.escape(name)}</code>' for name in names)}</p>"
    return (
        f"<h2><code>{method} {html.escape(path)}</code></h2>"
        f"<p>{html.escape(operation['summary'])}.</p>{takes if names else ''}"
        f"<p>Answers: {', '.join(operation['responses'])}</p>"
    )
