"""Forms of the pages: their fields, and why one is not granted."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request

from py2048.errors import Py2048Error


class FormError(Py2048Error):
    """A form that cannot be granted.

    Attributes:
        status: the HTTP status that says so.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        FormError: if the request carries none.
    """
    kind = request.headers.get("content-type", "application/x-www-form-urlencoded")
    if kind.partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise FormError("Send the form as application/x-www-form-urlencoded.")
    try:
        text = (await request.body()).decode()
        fields = parse_qs(text, keep_blank_values=True, max_num_fields=10)
        if any("\0" in values[-1] for values in fields.values()):
            raise ValueError  # no browser sends it, and PostgreSQL cannot look for it
    except (ClientDisconnect, ValueError):
        raise FormError("The form cannot be read.") from None
    return {key: values[-1] for key, values in fields.items()}
