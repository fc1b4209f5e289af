"""Click's exceptions, wherever Typer keeps them: newer versions carry a copy of Click inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from click import ClickException
else:
    # BadParameter -> UsageError -> ClickException
    ClickException = typer.BadParameter.__mro__[2]

__all__ = ["ClickException"]
