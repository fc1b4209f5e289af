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
    words = sys.argv[1:] if arguments is None else arguments
    try:
        if not words:
            return _open_game()
        return _serve(words[1:]) if words[0] == "serve" else _run(words)
    except Py2048Error as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return _reader_has_gone()


def _run(words: Sequence[str]) -> int:
    from py2048.cli.app import app
    from py2048.cli.click import ClickException

    try:
        status = app(args=words, prog_name="py2048", standalone_mode=False)
    except ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    return status if isinstance(status, int) else 0


def _open_game() -> int:
    """Open the best screen there is; without a terminal, watch a computer game.

    No word has to be understood for that, so the window need not wait for the parser.
    """
    if not sys.stdout.isatty():
        return _run(["watch"])
    from py2048.cli.screens import open_last_game

    return open_last_game()


def _serve(words: Sequence[str]) -> int:
    """Serve; the first page waits for the parser only where the words need it."""
    from py2048.cli.serving import plain_options, run_server

    options = plain_options(words)
    return _run(["serve", *words]) if options is None else run_server(**options)


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
