"""The command ``py2048``. Errors are printed on a single line and set the exit status."""

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
"""Environment variable that a shell sets to request completions."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    Errors are printed on a single line of stderr, and the status is 2. In Python's development mode
    (``python -X dev``), operating system errors keep their traceback.

    Args:
        arguments: Command-line arguments after ``py2048``. Defaults to the arguments of the
            process.
    """
    words = sys.argv[1:] if arguments is None else arguments
    streams.settle()
    try:
        try:
            return _dispatch(words)
        finally:
            sys.stdout.flush()
    except Py2048Error as error:
        return _fail(str(error), 2)
    except KeyboardInterrupt:
        return streams.INTERRUPTED
    except BrokenPipeError:  # the process reading the pipe has exited, as in `py2048 watch | head`
        streams.discard(sys.stdout)
        return 0
    except OSError as error:
        if sys.flags.dev_mode:
            raise
        streams.discard(sys.stdout)
        return _fail(streams.reason(error), 2)


def _dispatch(words: Sequence[str]) -> int:
    """Run a command.

    If there are no arguments, open the last game without loading the argument parser, because the
    parser is slow. Shell completion also runs without arguments.
    """
    if not words and COMPLETION not in os.environ:
        from py2048.app.commands.screens import open_screen

        return open_screen()
    _refuse_empty(words)
    return _run(words)


def _refuse_empty(words: Sequence[str]) -> None:
    """Reject empty arguments, which usually come from an unset shell variable.

    Raises:
        Py2048Error: If an argument or the value of an option is empty.
    """
    for before, word in pairwise(("py2048", *words)):
        name, equals, value = word.partition("=")
        if not word or (name.startswith("--") and equals and not value):
            raise Py2048Error(f"'' after {name or before}: give a value, or leave it out")


def _run(words: Sequence[str]) -> int:
    from typer import Abort, TyperException

    from py2048.cli.app import app
    from py2048.presentation.options import usage_message

    completing = os.environ.get(COMPLETION) == "complete_bash"
    try:
        with _words_split_by_bash() if completing else nullcontext():
            status = app(args=words, prog_name="py2048", standalone_mode=False)
    except TyperException as error:
        return _fail(usage_message(error), error.exit_code)
    except Abort:
        return streams.INTERRUPTED
    except SystemExit as ending:  # Typer exits on a broken pipe
        if isinstance(ending.__context__, BrokenPipeError):
            raise ending.__context__ from None
        raise
    return status if isinstance(status, int) else 0


@contextmanager
def _words_split_by_bash() -> Iterator[None]:
    """Rejoin words that Bash splits at ``:`` and ``=``, and adapt the printed completions.

    Bash replaces only the part of a word after the last separator, so only that part of each
    completion is printed.
    """
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
