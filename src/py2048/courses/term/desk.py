"""The teacher's desk: a local website to view a term's grading and enter marks by hand.

All URL paths begin with a random token, so only people who know the token have access. Forms from
other sites are rejected based on their ``Origin`` header, and requests for other host names based
on their ``Host`` header.
"""

from __future__ import annotations

import secrets
import shutil
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from mimetypes import guess_type
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qsl, quote

import jinja2
import uvicorn
from markupsafe import Markup, escape
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from py2048 import __version__
from py2048.core.errors import CourseError
from py2048.courses.grading.report import GradeReport, marks_of, number
from py2048.courses.grading.submissions import text_of
from py2048.courses.grading.tasks import printable
from py2048.courses.term import alike
from py2048.courses.term.handins import HandIn
from py2048.courses.term.manual import NO_DECISIONS, Manual, decide, manual_table, parse_marks
from py2048.courses.term.marks import Mark, Term, class_marks, kept_reports
from py2048.courses.term.tables import replace_file

PAGES = Path(__file__).with_name("desk_pages")
MAX_PROGRAM_CHARACTERS = 200_000
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
        "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
}
View = Callable[[Request], Awaitable[Response]]


def visible(value: object) -> object:
    """Escape control characters in a template value; markup is left unchanged."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else printable(value)


@dataclass
class CachedAssignment:
    """An assignment's hand-ins and reports, cached until its files change.

    Attributes:
        stamp: Names, times and sizes of the files read.
        hand_ins: All hand-ins, graded or not.
        graded: Reports by submission name.
        programs: The programs' fingerprints; None until they are first compared.
    """

    stamp: object
    hand_ins: list[HandIn]
    graded: dict[str, GradeReport]
    programs: list[alike.Program] | None = None


@dataclass
class TermCache:
    """Cache of a term's assignments, re-read when their files change."""

    folder: Path
    scratch: Path
    assignments: dict[str, CachedAssignment] = field(default_factory=dict)

    def assignment(self, term: Term, name: str) -> CachedAssignment:
        """Return an assignment's hand-ins and reports, re-reading them if files have changed."""
        hand_ins = self.folder / "submissions" / name
        kept = self.folder / "results" / f".{name}.jsonl"
        files = [self.folder / "course.toml", self.folder / "roster.csv", kept]
        paths = sorted(path for path in (*files, *hand_ins.rglob("*")) if path.exists())
        stamp = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
        if name not in self.assignments or self.assignments[name].stamp != stamp:
            scratch = self.scratch / name
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            found = term.finder(name, scratch).find(hand_ins) if hand_ins.is_dir() else []
            self.assignments[name] = CachedAssignment(stamp, found, kept_reports(term, name, found))
        return self.assignments[name]

    def marks(self, term: Term, name: str) -> list[Mark]:
        """Return an assignment's marks."""
        data = self.assignment(term, name)
        return class_marks(term, name, data.hand_ins, data.graded)

    def decide(self, term: Term, name: str, mark: Mark, form: Mapping[str, str]) -> None:
        """Save a form's decisions on a student's work.

        Raises:
            CourseError: If an entry is invalid or manual.csv has changed; nothing is saved.
        """
        assert mark.student
        table = manual_table(self.folder)
        if form.get("seen") != table.digest:
            raise CourseError(
                "manual.csv has changed since you opened this page, so nothing was saved: compare "
                "your entries with the current ones, then save again"
            )
        current = form_of(mark)
        typed = {key: text.strip() for key, text in form.items() if key.startswith("item:")}
        changed = {key for key, text in typed.items() if text != current.get(key, "")}
        owners = mark.hand_in.owners if mark.hand_in and "group" in form else [mark.student]
        manual = dict(term.manual)
        for owner in owners:
            comments = form.get("comments", current["comments"]).splitlines()
            is_partner = owner != mark.student
            if is_partner:  # partners get all marks typed here, and these comments in addition
                comments = [*manual.get((name, owner.id), NO_DECISIONS).comments, *comments]
            items = {
                key.removeprefix("item:"): text
                for key, text in typed.items()
                if key in changed or (is_partner and text)
            }
            decide(table, term.roster, name, owner, items, dict.fromkeys(comments))
            given = {
                item: parse_marks(mark.assignment, term.settings, item, text)
                for item, text in items.items()
                if text
            }
            manual[name, owner.id] = Manual(given)
        data = self.assignment(term, name)
        class_marks(replace(term, manual=manual), name, data.hand_ins, data.graded)
        replace_file(table.path, table.to_bytes())

    def pairs(self, term: Term, name: str, threshold: float) -> list[alike.Pair]:
        """Return an assignment's similar programs."""
        data = self.assignment(term, name)
        if data.programs is None:
            data.programs = alike.compared(term, name, data.hand_ins)
        return alike.pairs_of(data.programs, threshold)


# --- data for the templates ---


def mark_key(mark: Mark) -> str:
    """Return a mark's key in URLs: the student's id, or the name of an unmatched hand-in."""
    if mark.student:
        return mark.student.id
    return mark.hand_in.submission.name if mark.hand_in else ""


def programs_of(mark: Mark) -> list[tuple[str, list[str]]]:
    """Return the names and lines of the Python files in the hand-in used for a mark."""
    if mark.hand_in is None:
        return []
    one = mark.hand_in.submission
    return [
        (str(path.relative_to(one.root)), text_of(path)[:MAX_PROGRAM_CHARACTERS].splitlines())
        for path in one.files
        if path.suffix.lower() == ".py"
    ]


def share_of(mark: Mark) -> float:
    """Return the final marks as a share of the possible marks."""
    return float(mark.total / mark.possible) if mark.total and mark.possible else 0.0


def overview(marks: Sequence[Mark]) -> dict[str, Any]:
    """Return an assignment's statistics: distribution of totals, tasks, failed checks."""
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
    students = [mark for mark in marks if mark.student]
    return {
        "students": len(students),
        "handed_in": sum(bool(mark.hand_in) for mark in students),
        "mean": sum(map(share_of, with_total)) / len(with_total) if with_total else None,
        "ungraded": sum(mark.hand_in is not None and not mark.report for mark in marks),
        "waiting": [mark for mark in marks if mark.problem and mark.hand_in],
        "spread": spread,
        "tasks": tasks,
        "failed": sorted(failed.items(), key=lambda item: -len(item[1])),
    }


def form_of(mark: Mark) -> dict[str, str]:
    """Return a mark's current decisions as form values."""
    items = {f"item:{item}": str(number(value)) for item, value in mark.manual.items.items()}
    return items | {"comments": "\n".join(mark.manual.comments)}


def fields_of(term: Term, mark: Mark) -> dict[str, list[tuple[str, str, object]]]:
    """Return the form fields by group, each with its item, label and the grader's value."""
    wanted, rubric = mark.assignment.tasks, mark.assignment.rubric
    tasks = [t for t in term.grading(mark.assignment).tasks if not wanted or t.id in wanted]
    whole = float(sum(task.marks for task in tasks)) + sum(rubric.values())
    given = {task.id: number(task.earned) for task in (mark.report.tasks if mark.report else ())}
    late = mark.assignment.days_late(mark.hand_in.when) if mark.hand_in else ""
    return {
        "rubric": [
            (item, f"{item} (0 to {most:g}, {most / whole:.0%})", "")
            for item, most in rubric.items()
        ],
        "rest": [
            ("total", "total", number(mark.earned * mark.kept_share) if given else ""),
            ("late", "days late", late),
            *([("attempt", "attempt", mark.attempt)] if len(mark.attempts) > 1 else ()),
            *(
                (t.id, f"task {t.id} (0 to {number(Fraction(t.marks))})", given.get(t.id, ""))
                for t in tasks
            ),
        ],
    }


# --- the application ---


class Desk:
    """Request handlers of the desk."""

    def __init__(self, cache: TermCache, token: str, content: Callable[[str], bytes]) -> None:
        self.cache = cache
        self.base = f"/{token}"
        styles = [
            content("css/themes.css"),
            content("css/base.css"),
            (PAGES / "desk.css").read_bytes(),
        ]
        self.files = {
            "css/desk.css": b"".join(styles),
            "digits.ttf": content("digits.ttf"),
            "icon.svg": content("icons/icon.svg"),
            "desk.js": (PAGES / "desk.js").read_bytes(),
        }
        self.pages = jinja2.Environment(
            loader=jinja2.FileSystemLoader(PAGES),
            autoescape=True,
            finalize=visible,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )
        self.pages.filters |= {"number": number, "key": mark_key, "typed": escape}
        self.pages.globals |= {"base": self.base, "version": __version__, "marks_of": marks_of}

    def page(self, template: str, status: int = 200, **values: object) -> Response:
        """Render a template."""
        text = self.pages.get_template(template).render(**values)
        return Response(text, status, HEADERS, "text/html")

    def routes(self) -> list[Mount]:
        """Return the routes; all of their paths begin with the token."""
        views: list[tuple[str, View, str]] = [
            ("/", self.show_term, "GET"),
            ("/files/{name:path}", self.show_file, "GET"),
            ("/{name}/", self.show_class, "GET"),
            ("/{name}/student", self.show_student, "GET"),
            ("/{name}/student", self.save, "POST"),
            ("/{name}/alike", self.show_alike, "GET"),
        ]
        return [Mount(self.base, routes=[Route(p, v, methods=[m]) for p, v, m in views])]

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
        """Read the term and the requested assignment with its marks."""
        term, name = Term.read(self.cache.folder), request.path_params["name"]
        if name not in term.settings.assignments:
            raise HTTPException(404, f"There is no assignment {name!r} in course.toml.")
        return term, name, self.cache.marks(term, name)

    def locate(self, request: Request, marks: Sequence[Mark]) -> tuple[list[str], int]:
        """Return the keys of all marks and the index of the requested one."""
        keys, who = [mark_key(mark) for mark in marks], request.query_params.get("who", "")
        if who not in keys:
            raise HTTPException(404, f"There is no student or hand-in {who!r}.")
        return keys, keys.index(who)

    async def show_term(self, _request: Request) -> Response:
        """Show all assignments and each student's marks."""
        term = Term.read(self.cache.folder)
        marks = {name: self.cache.marks(term, name) for name in term.settings.assignments}
        figures = {name: overview(of_one) for name, of_one in marks.items()}
        return self.page("term.html", term=term, marks=marks, figures=figures)

    async def show_class(self, request: Request) -> Response:
        """Show the class's marks in an assignment."""
        term, name, marks = self.read(request)
        return self.page("class.html", term=term, name=name, marks=marks, **overview(marks))

    async def show_student(
        self, request: Request, error: str = "", typed: Mapping[str, str] | None = None
    ) -> Response:
        """Show a student's report and program, and the form for marking by hand.

        After an `error` the form keeps the entries in `typed`.
        """
        term, name, marks = self.read(request)
        keys, at = self.locate(request, marks)
        mark = marks[at]
        own = mark.hand_in.submission.name if mark.hand_in else None
        pairs = [
            (n, pair)
            for n, pair in enumerate(self.cache.pairs(term, name, alike.THRESHOLD))
            if own in (pair.one.name, pair.other.name)
        ]
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
            seen=manual_table(self.cache.folder).digest,
            pairs=pairs,
            error=error,
            saved="saved" in request.query_params,
        )

    async def save(self, request: Request) -> Response:
        """Save a form's decisions in ``manual.csv``, unless the file has changed since."""
        if request.headers.get("origin") != f"http://{request.headers['host']}":
            raise HTTPException(403, "This form was not sent from the desk.")
        form = dict(parse_qsl((await request.body()).decode(errors="replace"), True))
        term, name, marks = self.read(request)
        students = [mark for mark in marks if mark.student]
        keys, at = self.locate(request, students)
        try:
            self.cache.decide(term, name, students[at], form)
        except CourseError as error:
            current = form_of(students[at])
            if form.get("seen") != manual_table(self.cache.folder).digest:  # keep newer entries
                lines = [*current["comments"].splitlines(), *form.get("comments", "").splitlines()]
                form |= {key: text for key, text in current.items() if not form.get(key)}
                form["comments"] = "\n".join(dict.fromkeys(lines))
            return await self.show_student(request, str(error), form)
        who, flag = keys[at], "&saved"
        if "next" in form and at + 1 < len(keys):
            who, flag = keys[at + 1], ""
        return RedirectResponse(f"student?who={quote(who, safe='')}{flag}", 303, HEADERS)

    async def show_alike(self, request: Request) -> Response:
        """Show all pairs of similar programs, or one pair side by side."""
        term, name, marks = self.read(request)
        try:
            threshold = float(request.query_params.get("threshold", alike.THRESHOLD))
            place = int(request.query_params.get("pair", -1))
        except ValueError:
            raise HTTPException(422, "The threshold must be a number from 1 to 100.") from None
        pairs = self.cache.pairs(term, name, min(max(threshold, 1), 100))
        pair = pairs[place] if 0 <= place < len(pairs) else None
        return self.page(
            "alike.html",
            term=term,
            name=name,
            pairs=pairs,
            pair=pair,
            lines=alike.lines_in_both(pair) if pair else (),
            threshold=threshold,
            owners={one.submission.name: mark for mark in marks for one, _ in mark.attempts},
            passage=alike.LENGTH + alike.WINDOW - 1,
            min_passage=alike.LENGTH,
        )


def make_app(folder: Path, scratch: Path, token: str, content: Callable[[str], bytes]) -> Starlette:
    """Return the desk's application; `content` reads the website's static files."""
    desk = Desk(TermCache(folder, scratch), token, content)
    return Starlette(
        routes=desk.routes(),
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
