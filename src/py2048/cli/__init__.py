"""The command ``py2048``: wiring only. Each module holds the commands of one subject."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from io import StringIO
from itertools import pairwise

from py2048.core.errors import Py2048Error
from py2048.presentation import streams

COMPLETION = "_PY2048_COMPLETE"
"""The environment variable in which a shell says that it wants to know what may come next."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, or 2 after one clear line on stderr.

    In Python's development mode (``python -X dev``) an error of the operating system shows where
    it comes from.

    Args:
        arguments: the words after ``py2048``; by default those of the process.
    """
    words = sys.argv[1:] if arguments is None else arguments
    streams.settle()
    try:
        try:
            return _obey(words)
        finally:
            sys.stdout.flush()
    except Py2048Error as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt:
        return streams.INTERRUPTED
    except BrokenPipeError:  # what reads our output has gone, as in `py2048 watch | head`
        streams.discard(sys.stdout)
        return 0
    except OSError as error:
        if sys.flags.dev_mode:
            raise
        streams.discard(sys.stdout)
        return _fail(streams.reason(error), 2)


def _obey(words: Sequence[str]) -> int:
    """Do what the words say; without any, no window has to wait for the parser.

    A shell that completes the words asks without any as well.
    """
    if not words and COMPLETION not in os.environ:
        from py2048.app.commands.screens import open_last_game

        return open_last_game()
    _refuse_empty(words)
    return _run(words)


def _refuse_empty(words: Sequence[str]) -> None:
    """Refuse an empty word: it is a variable of a shell that was not set, and means nothing.

    Raises:
        Py2048Error: if there is one.
    """
    for before, word in pairwise(("py2048", *words)):
        name, equals, value = word.partition("=")
        if not word or (name.startswith("--") and equals and not value):
            raise Py2048Error(f"'' after {name or before}: give a value, or leave it out")


def _run(words: Sequence[str]) -> int:
    from typer import Abort

    from py2048.cli.app import app
    from py2048.presentation.options import ClickException, mistake

    completing = os.environ.get(COMPLETION) == "complete_bash"
    try:
        with _words_split_by_bash() if completing else nullcontext():
            status = app(args=words, prog_name="py2048", standalone_mode=False)
    except ClickException as error:
        return _fail(mistake(error), error.exit_code)
    except Abort:
        return streams.INTERRUPTED
    except SystemExit as ending:  # click's own answer to a reader that has gone
        if isinstance(ending.__context__, BrokenPipeError):
            raise ending.__context__ from None
        raise
    return status if isinstance(status, int) else 0


@contextmanager
def _words_split_by_bash() -> Iterator[None]:
    """Join the words that Bash splits at ``:`` and ``=``; print what completes the last part."""
    words = os.environ["COMP_WORDS"].split("\n")[: int(os.environ["COMP_CWORD"]) + 1]
    joined = re.sub(r"\n([:=])(\n|$)", r"\1", "\n".join(words))
    os.environ |= {"COMP_WORDS": joined, "COMP_CWORD": str(joined.count("\n"))}
    value = re.sub("^--[^=]*=", "", joined.rpartition("\n")[2])
    typed = value.removesuffix("" if words[-1] in (":", "=") else words[-1])
    screen = sys.stdout
    with redirect_stdout(StringIO()) as offered:
        try:
            yield
        finally:
            for line in offered.getvalue().splitlines():
                print(line.removeprefix(typed), file=screen)


def _fail(message: str, status: int) -> int:
    streams.complain(message)
    return status


if __name__ == "__main__":
    sys.exit(main())
