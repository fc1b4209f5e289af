"""The command ``py2048``: wiring only. Each module holds the commands of one subject."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from py2048.errors import Py2048Error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, or 2 after one clear line on stderr.

    Args:
        arguments: the words after ``py2048``; by default those of the process.
    """
    from py2048.cli.app import app
    from py2048.cli.click import ClickException

    try:
        status = app(args=arguments, prog_name="py2048", standalone_mode=False)
    except ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except Py2048Error as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _reader_has_gone()
    return status if isinstance(status, int) else 0


def _fail(message: str, status: int) -> int:
    print(f"py2048: {message}", file=sys.stderr)
    return status


def _reader_has_gone() -> int:
    """Leave quietly when what reads our output has gone, as in ``py2048 watch | head``."""
    import os

    # Python flushes stdout once more on its way out; give it somewhere to go.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
