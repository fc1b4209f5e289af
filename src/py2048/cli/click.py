"""Click's exceptions, wherever Typer keeps them: newer versions carry a copy of Click inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from click import ClickException, UsageError
else:
    # BadParameter -> UsageError -> ClickException
    UsageError, ClickException = typer.BadParameter.__mro__[1:3]

__all__ = ["ClickException", "UsageError"]
