"""The teacher's desk, a local website for viewing a term's results and entering marks.

All URL paths begin with a random token, so only people who know the token have access. Forms that
other sites submit are rejected by their ``Origin`` header, and requests for other host names by
their ``Host`` header.
"""

from __future__ import annotations

import secrets
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from mimetypes import guess_type
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qsl, quote

import uvicorn
from markupsafe import escape
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from py2048 import __version__
from py2048.core.errors import CourseError
from py2048.courses.grading.report import GradeReport, environment, number
from py2048.courses.grading.submissions import text_of
from py2048.courses.term import alike, manual
from py2048.courses.term.handins import Finder, HandIn
from py2048.courses.term.manual import Term
from py2048.courses.term.marks import Mark, class_marks, kept_reports
from py2048.courses.term.roster import Student
from py2048.courses.term.tables import CsvTable, replace_file

PAGES = Path(__file__).with_name("desk_pages")
MAX_PROGRAM_CHARACTERS = 200_000
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        "font-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}


@dataclass
class CachedAssignment:
    """An assignment's hand-ins and reports, as cached until a file changes.

    Attributes:
        stamp: The names, modification times and sizes of the files that were read.
        hand_ins: All hand-ins, graded or not.
        graded: Reports by submission name.
        compared: The programs to compare; None until they are first needed.
        pairs: Similar programs by threshold.
    """

    stamp: object
    hand_ins: list[HandIn]
    graded: dict[str, GradeReport]
    compared: tuple[list[alike.Program], frozenset[str]] | None = None
    pairs: dict[float, list[alike.Pair]] = field(default_factory=dict)


@dataclass
class TermCache:
    """Caches a term's assignments, and reads them again after a file has changed."""

    folder: Path
    scratch: Path
    assignments: dict[str, CachedAssignment] = field(default_factory=dict)

    def assignment(self, term: Term, name: str) -> CachedAssignment:
        """Return an assignment's hand-ins and reports, read again if a file has changed."""
        hand_ins = term.hand_ins(name)
        files = [self.folder / "course.toml", self.folder / "roster.csv", term.results(name)]
        paths = sorted(path for path in (*files, *hand_ins.rglob("*")) if path.exists())
        read = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
        stamp = read, term.assigned(name)
        if name not in self.assignments or self.assignments[name].stamp != stamp:
            scratch = self.scratch / name
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            found = Finder(term, name, scratch).find() if hand_ins.is_dir() else []
            self.assignments[name] = CachedAssignment(stamp, found, kept_reports(term, name, found))
        return self.assignments[name]

    def marks(self, term: Term, name: str) -> list[Mark]:
        """Return an assignment's marks."""
        data = self.assignment(term, name)
        return class_marks(term, name, data.hand_ins, data.graded)

    def table(self, form: Mapping[str, str]) -> CsvTable:
        """Return manual.csv; raise `CourseError` if it has changed since the form was shown."""
        table = manual.manual_table(self.folder)
        if form.get("seen") != table.digest:
            raise CourseError(
                "manual.csv has changed since you opened this page, so nothing was saved: compare "
                "your entries with the current ones, then save again"
            )
        return table

    def assign(self, term: Term, name: str, mark: Mark, form: Mapping[str, str]) -> Student:
        """Assign a hand-in that matches no student to the student named in a form.

        Raises:
            CourseError: If the student is unknown or manual.csv has changed. Nothing is saved.
        """
        assert mark.hand_in
        table = self.table(form)
        student = term.roster.find(form["assign"].partition(" ")[0])
        if student is None:
            raise CourseError(f"there is no student with the id {form['assign']!r} in roster.csv")
        manual.add_row(table, name, student, manual.HAND_IN, mark.hand_in.entry)
        replace_file(table.path, table.to_bytes())
        return student

    def decide(self, term: Term, name: str, mark: Mark, form: Mapping[str, str]) -> None:
        """Save the decisions on a student's work that were entered in a form.

        Raises:
            CourseError: If an entry is invalid, or manual.csv has changed. In this case nothing is
                saved.
        """
        assert mark.student
        table = self.table(form)
        current = form_of(mark)
        typed = {key: text.strip() for key, text in form.items() if key.startswith("item:")}
        changed = {key for key, text in typed.items() if text != current.get(key, "")}
        owners = mark.hand_in.owners if mark.hand_in and "group" in form else [mark.student]
        for owner in owners:
            comments = form.get("comments", current["comments"]).splitlines()
            is_partner = owner != mark.student
            if is_partner:  # partners get these comments in addition
                own = term.decisions(name, owner).comments
                comments = [*own, *form.get("comments", "").splitlines()]
            items = {
                key.removeprefix("item:"): text
                for key, text in typed.items()
                if key in changed or (is_partner and text)
            }
            for item, text in items.items():
                if text and not manual.LINE.search(item):
                    manual.parse_marks(mark.assignment, item, text)
            manual.decide(table, term.roster, name, owner, items, dict.fromkeys(comments))
        data = self.assignment(term, name)
        decided = manual.decisions(table, term.settings, term.roster)
        class_marks(replace(term, manual=decided), name, data.hand_ins, data.graded)
        replace_file(table.path, table.to_bytes())

    def pairs(self, term: Term, name: str, threshold: float) -> list[alike.Pair]:
        """Return an assignment's similar programs."""
        data = self.assignment(term, name)
        if data.compared is None:
            data.compared = alike.compared(term, name, data.hand_ins, self.scratch / name)
        if threshold not in data.pairs:
            data.pairs[threshold] = alike.pairs_of(*data.compared, threshold)
        return data.pairs[threshold]


# --- data for the templates ---


def mark_key(mark: Mark) -> str:
    """Return the student's id, or the name of an unmatched hand-in, as used in URLs."""
    if mark.student:
        return mark.student.id
    return mark.hand_in.submission.name if mark.hand_in else ""


def programs_of(mark: Mark) -> list[tuple[str, list[str]]]:
    """Return the Python files of a mark's hand-in as (name, lines)."""
    if mark.hand_in is None:
        return []
    one = mark.hand_in.submission
    return [
        (str(path.relative_to(one.root)), text_of(path)[:MAX_PROGRAM_CHARACTERS].splitlines())
        for path in one.files
        if path.suffix.lower() == ".py"
    ]


def share_of(mark: Mark) -> float:
    """Return the final marks as a share of the maximum marks."""
    return float(mark.total / mark.possible) if mark.total and mark.possible else 0.0


def overview(marks: Sequence[Mark]) -> dict[str, Any]:
    """Compute statistics about an assignment's total marks, tasks and failed checks."""
    with_total = [mark for mark in marks if mark.total is not None and mark.possible]
    spread = [0] * 10
    for mark in with_total:
        spread[min(9, int(10 * share_of(mark)))] += 1
    tasks = defaultdict(list)
    failed = defaultdict(list)
    for mark in marks:
        for task in mark.tasks if mark.report and not mark.report.failure else ():
            tasks[task.id, task.title].append(float(task.earned / task.marks) if task.marks else 1)
            for check in task.checks:
                if not check.passed:
                    failed[task.id, check.title].append((mark, check.cause))
    return {
        "mean": sum(map(share_of, with_total)) / len(with_total) if with_total else None,
        "spread": spread,
        "tasks": tasks,
        "failed": sorted(failed.items(), key=lambda item: -len(item[1])),
    }


def form_of(mark: Mark) -> dict[str, str]:
    """Return the current decisions on a student's work as form values."""
    items = {f"item:{item}": str(number(value)) for item, value in mark.manual.items.items()}
    lines = {f"item:{line}": text for line, text in mark.manual.lines.items()}
    return items | lines | {"comments": "\n".join(mark.manual.comments)}


def fields_of(term: Term, mark: Mark) -> list[tuple[str, Fraction | None, object]]:
    """Return the form's fields: each item, its maximum and the grader's value."""
    given = {task.id: number(task.earned) for task in (mark.report.tasks if mark.report else ())}
    late = mark.hand_in.days_late(mark.assignment) if mark.hand_in else ""
    return [
        ("total", None, number(mark.earned * mark.kept_share) if given else ""),
        ("late", None, late),
        *([("attempt", None, mark.attempt)] if len(mark.attempts) > 1 else ()),
        *(
            (task.id, Fraction(task.marks), given.get(task.id, ""))
            for task in term.grading(mark.assignment).tasks
        ),
    ]


# --- the application ---


class Desk:
    """Request handlers of the desk."""

    def __init__(self, cache: TermCache, token: str, content: Callable[[str], bytes]) -> None:
        self.cache = cache
        self.base = f"/{token}"
        styles = [content(f"css/{name}.css") for name in ("themes", "base")]
        self.files = {
            "css/desk.css": b"".join([*styles, (PAGES / "desk.css").read_bytes()]),
            "icon.svg": content("icons/icon.svg"),
            "desk.js": (PAGES / "desk.js").read_bytes(),
        }
        self.pages = environment(PAGES)
        self.pages.filters |= {"key": mark_key, "typed": escape}
        self.pages.globals |= {"base": self.base, "version": __version__}

    def page(self, template: str, status: int = 200, **values: object) -> Response:
        """Render a template."""
        text = self.pages.get_template(template).render(**values)
        return Response(text, status, HEADERS, "text/html")

    async def show_file(self, request: Request) -> Response:
        """Serve a static file."""
        name = request.path_params["name"]
        if name not in self.files:
            raise HTTPException(404, "There is no such file.")
        return Response(self.files[name], headers=HEADERS, media_type=guess_type(name)[0])

    async def show_error(self, _request: Request, error: Exception) -> Response:
        """Show an error page."""
        status = error.status_code if isinstance(error, HTTPException) else 422
        text = error.detail if isinstance(error, HTTPException) else str(error)
        return self.page("error.html", status, message=text)

    def read(self, request: Request) -> tuple[Term, str, list[Mark]]:
        """Read the term, and the requested assignment with its marks."""
        term, name = Term.read(self.cache.folder), request.path_params["name"]
        if name not in term.settings.assignments:
            raise HTTPException(404, f"There is no assignment {name!r} in course.toml.")
        return term, name, self.cache.marks(term, name)

    def locate(self, request: Request, marks: Sequence[Mark]) -> tuple[list[str], int]:
        """Return the keys of all marks (see `mark_key`), and the index of the key in the URL."""
        keys, who = [mark_key(mark) for mark in marks], request.query_params.get("who", "")
        if who not in keys:
            raise HTTPException(404, f"There is no student or hand-in {who!r}.")
        return keys, keys.index(who)

    async def show_term(self, _request: Request) -> Response:
        """Show all assignments, and each student's marks."""
        term = Term.read(self.cache.folder)
        marks = {name: self.cache.marks(term, name) for name in term.settings.assignments}
        figures = {name: overview(of_one) for name, of_one in marks.items()}
        return self.page("term.html", term=term, marks=marks, figures=figures)

    async def show_class(self, request: Request) -> Response:
        """Show everyone's marks for an assignment."""
        term, name, marks = self.read(request)
        found = overview(marks)
        found["sections"] = sorted({student.section for student in term.roster.students} - {""})
        return self.page("class.html", term=term, name=name, marks=marks, **found)

    async def show_student(
        self, request: Request, error: str = "", typed: Mapping[str, str] | None = None
    ) -> Response:
        """Show a student's report and program, and the form for manual marks.

        After an `error`, the form shows the entries that were `typed`.
        """
        term, name, marks = self.read(request)
        keys, at = self.locate(request, marks)
        mark = marks[at]
        own = mark.hand_in.submission.name if mark.hand_in else None
        pairs = self.cache.pairs(term, name, alike.THRESHOLD)
        return self.page(
            "student.html",
            409 if error else 200,
            term=term,
            name=name,
            mark=mark,
            at=at,
            keys=keys,
            programs=programs_of(mark),
            fields=fields_of(term, mark),
            current=form_of(mark),
            typed=typed or form_of(mark),
            seen=manual.manual_table(self.cache.folder).digest,
            pairs=[pair for pair in pairs if own in (pair.one.name, pair.other.name)],
            error=error,
            saved="saved" in request.query_params,
        )

    async def save(self, request: Request) -> Response:
        """Save the decisions from a form to ``manual.csv``, unless the file has been changed."""
        if request.headers.get("origin") != f"http://{request.headers['host']}":
            raise HTTPException(403, "This form was not sent from the desk.")
        form = dict(parse_qsl((await request.body()).decode(errors="replace"), True))
        term, name, marks = self.read(request)
        keys, at = self.locate(request, marks)
        who, flag = form.get("next", ""), ""
        if {"file", "line", "text"} <= form.keys():
            form[f"item:{form['file']}:{form['line']}"] = form["text"]
        try:
            if marks[at].student is None:
                who = self.cache.assign(term, name, marks[at], form).id
            else:
                self.cache.decide(term, name, marks[at], form)
        except CourseError as error:
            current = form_of(marks[at])
            # If the file has changed, its newer entries are kept.
            if form.get("seen") != manual.manual_table(self.cache.folder).digest:
                lines = [*current["comments"].splitlines(), *form.get("comments", "").splitlines()]
                form |= {key: text for key, text in current.items() if not form.get(key)}
                form["comments"] = "\n".join(dict.fromkeys(lines))
            return await self.show_student(request, str(error), form)
        if who not in keys:
            who, flag = keys[at], "&saved"
        return RedirectResponse(f"student?who={quote(who, safe='')}{flag}", 303, HEADERS)

    async def show_alike(self, request: Request) -> Response:
        """Show all groups of similar programs, or a pair side by side."""
        term, name, marks = self.read(request)
        asked = request.query_params
        try:
            threshold = min(max(float(asked.get("threshold", alike.THRESHOLD)), 1), 100)
        except ValueError:
            raise HTTPException(422, "The threshold must be a number from 1 to 100.") from None
        wanted = {asked.get("one"), asked.get("other")}
        pairs = self.cache.pairs(term, name, threshold)
        return self.page(
            "alike.html",
            term=term,
            name=name,
            clusters=alike.clusters_of(pairs),
            described=alike.described,
            pair=next((pair for pair in pairs if {pair.one.name, pair.other.name} == wanted), None),
            threshold=threshold,
            owners={one.submission.name: mark for mark in marks for one, _ in mark.attempts},
        )


def make_app(folder: Path, scratch: Path, token: str, content: Callable[[str], bytes]) -> Starlette:
    """Create the desk's web application. All URL paths begin with `token`.

    `content` is a function that returns the website's static file with a given name.
    """
    desk = Desk(TermCache(folder, scratch), token, content)
    routes = [
        Route("/", desk.show_term),
        Route("/files/{name:path}", desk.show_file),
        Route("/{name}/", desk.show_class),
        Route("/{name}/student", desk.show_student),
        Route("/{name}/student", desk.save, methods=["POST"]),
        Route("/{name}/alike", desk.show_alike),
    ]
    return Starlette(
        routes=[Mount(desk.base, routes=routes)],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
        exception_handlers={HTTPException: desk.show_error, CourseError: desk.show_error},
    )


def serve(folder: Path, listener: Any, content: Callable[[str], bytes]) -> None:
    """Serve the desk on a listening socket until Ctrl-C."""
    Term.read(folder)  # report errors before the server starts
    token = secrets.token_urlsafe(24)
    with TemporaryDirectory(prefix="py2048-desk-") as scratch, suppress(KeyboardInterrupt):
        app = make_app(folder, Path(scratch), token, content)
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/{token}/", flush=True)
        config = uvicorn.Config(app, log_level="warning", server_header=False)
        uvicorn.Server(config).run(sockets=[listener])
