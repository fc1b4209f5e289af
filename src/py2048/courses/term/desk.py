"""The teacher's desk: what is graded of a term, as pages of this machine, and marks by hand.

Only who has the address can use it: it holds a word drawn at the start. Forms of other pages are
refused by their origin, and other names for this machine by the host.
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
from py2048.courses.grading.report import Report, marks_of, number
from py2048.courses.grading.submissions import text_of
from py2048.courses.grading.tasks import printable
from py2048.courses.term import alike
from py2048.courses.term.handins import HandIn
from py2048.courses.term.manual import UNDECIDED, Manual, checked, decide, manual_table
from py2048.courses.term.marks import Course, Mark, class_marks, kept_reports
from py2048.courses.term.tables import replace_file

HERE = Path(__file__).with_name("desk_pages")
MAX_PROGRAM = 200_000
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
    """Return a value as a page shows it; a form's own are marked as they are."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else printable(value)


@dataclass
class Reading:
    """What was read of an assignment; `programs` are those that likeness compares."""

    stamp: object
    hand_ins: list[HandIn]
    graded: dict[str, Report]
    programs: list[alike.Program] | None = None


@dataclass
class Term:
    """A term's folder, read anew where a file has changed; what is unpacked is in `scratch`."""

    folder: Path
    scratch: Path
    readings: dict[str, Reading] = field(default_factory=dict)

    def reading(self, course: Course, name: str) -> Reading:
        """Return the hand-ins of an assignment, and what is graded of them."""
        hand_ins = self.folder / "submissions" / name
        kept = self.folder / "results" / f".{name}.jsonl"
        files = [self.folder / "course.toml", self.folder / "roster.csv", kept]
        paths = sorted(path for path in (*files, *hand_ins.rglob("*")) if path.exists())
        stamp = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in paths]
        if name not in self.readings or self.readings[name].stamp != stamp:
            scratch = self.scratch / name
            shutil.rmtree(scratch, ignore_errors=True)
            scratch.mkdir()
            found = course.finder(name, scratch).find(hand_ins) if hand_ins.is_dir() else []
            self.readings[name] = Reading(stamp, found, kept_reports(course, name, found))
        return self.readings[name]

    def marks(self, course: Course, name: str) -> list[Mark]:
        """Return the marks of an assignment."""
        reading = self.reading(course, name)
        return class_marks(course, name, reading.hand_ins, reading.graded)

    def decide(self, course: Course, name: str, mark: Mark, form: Mapping[str, str]) -> None:
        """Write what a form decides of a student's work.

        Raises:
            CourseError: in one line, where nothing is written.
        """
        assert mark.student  # forms are of students
        table = manual_table(self.folder)
        if form.get("seen") != table.digest:
            raise CourseError(
                "manual.csv has changed since this page was made, so nothing is saved: compare "
                "what you typed with what is there now, then save again"
            )
        there = form_of(mark)
        typed = {key: text.strip() for key, text in form.items() if key.startswith("item:")}
        changed = {key for key, text in typed.items() if text != there.get(key, "")}
        owners = mark.hand_in.owners if mark.hand_in and "group" in form else [mark.student]
        manual = dict(course.manual)
        for owner in owners:
            comments = form.get("comments", there["comments"]).splitlines()
            other = owner != mark.student  # who has all the marks, and keeps comments of one's own
            if other:
                comments = [*manual.get((name, owner.id), UNDECIDED).comments, *comments]
            items = {
                key.removeprefix("item:"): text
                for key, text in typed.items()
                if key in changed or (other and text)
            }
            decide(table, course.roster, name, owner, items, dict.fromkeys(comments))
            given = {
                item: checked(mark.assignment, course.settings, item, text)
                for item, text in items.items()
                if text
            }
            manual[name, owner.id] = Manual(given)
        reading = self.reading(course, name)
        class_marks(replace(course, manual=manual), name, reading.hand_ins, reading.graded)
        replace_file(table.path, table.text())

    def pairs(self, course: Course, name: str, threshold: float) -> list[alike.Pair]:
        """Return the programs of an assignment that are alike."""
        reading = self.reading(course, name)
        if reading.programs is None:
            reading.programs = alike.compared(course, name, reading.hand_ins)
        return alike.pairs_of(reading.programs, threshold)


# --- what the pages show ---


def key_of(mark: Mark) -> str:
    """Return what a page calls a mark: the student's id, or the name of an unknown hand-in."""
    if mark.student:
        return mark.student.id
    return mark.hand_in.submission.name if mark.hand_in else ""


def programs_of(mark: Mark) -> list[tuple[str, list[str]]]:
    """Return the Python files of the hand-in that counts, by name, in lines."""
    one = mark.hand_in.submission if mark.hand_in else None
    files = [path for path in one.files if path.suffix.lower() == ".py"] if one else []
    return [
        (str(path.relative_to(one.root)), text_of(path)[:MAX_PROGRAM].splitlines())
        for path in files
        if one is not None
    ]


def share_of(mark: Mark) -> float:
    """Return the share of the marks that a student has in the end."""
    return float(mark.total / mark.possible) if mark.total and mark.possible else 0.0


def overview(marks: Sequence[Mark]) -> dict[str, Any]:
    """Return an assignment in figures: the spread of totals, each task, each check that fails."""
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
    """Return what ``manual.csv`` has of a mark, as a form shows it."""
    items = {f"item:{item}": str(number(value)) for item, value in mark.manual.items.items()}
    return items | {"comments": "\n".join(mark.manual.comments)}


def fields_of(course: Course, mark: Mark) -> dict[str, list[tuple[str, str, object]]]:
    """Return the items a person can decide, by kind: name, meaning, what the grader gives."""
    wanted, rubric = mark.assignment.tasks, mark.assignment.rubric
    tasks = [t for t in course.grading(mark.assignment).tasks if not wanted or t.id in wanted]
    whole = float(sum(task.marks for task in tasks)) + sum(rubric.values())
    given = {task.id: number(task.earned) for task in (mark.report.tasks if mark.report else ())}
    late = mark.assignment.days_late(mark.hand_in.when) if mark.hand_in else ""
    return {
        "rubric": [
            (item, f"{item} (0 to {most:g}, {most / whole:.0%})", "")
            for item, most in rubric.items()
        ],
        "rest": [
            ("total", "total", number(mark.earned * mark.kept) if given else ""),
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
    """The views of the pages."""

    def __init__(self, term: Term, token: str, content: Callable[[str], bytes]) -> None:
        self.term = term
        self.base = f"/{token}"
        looks = [
            content("css/themes.css"),
            content("css/base.css"),
            (HERE / "desk.css").read_bytes(),
        ]
        self.files = {
            "css/desk.css": b"".join(looks),
            "digits.ttf": content("digits.ttf"),
            "icon.svg": content("icons/icon.svg"),
            "desk.js": (HERE / "desk.js").read_bytes(),
        }
        self.pages = jinja2.Environment(
            loader=jinja2.FileSystemLoader(HERE),
            autoescape=True,
            finalize=visible,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )
        self.pages.filters |= {"number": number, "key": key_of, "typed": escape}
        self.pages.globals |= {"base": self.base, "version": __version__, "marks_of": marks_of}

    def page(self, template: str, status: int = 200, **values: object) -> Response:
        """Return a page."""
        text = self.pages.get_template(template).render(**values)
        return Response(text, status, HEADERS, "text/html")

    def routes(self) -> list[Mount]:
        """Return the addresses, all below the word."""
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
        """Send a file of the pages."""
        name = request.path_params["name"]
        if name not in self.files:
            raise HTTPException(404, "No page has this file.")
        return Response(self.files[name], headers=HEADERS, media_type=guess_type(name)[0])

    async def show_error(self, _request: Request, error: Exception) -> Response:
        """Show what is wrong, in one line."""
        status = error.status_code if isinstance(error, HTTPException) else 422
        text = error.detail if isinstance(error, HTTPException) else str(error)
        return self.page("error.html", status, message=text)

    def read(self, request: Request) -> tuple[Course, str, list[Mark]]:
        """Read the term, and the assignment that is asked for, with its marks."""
        course, name = Course.read(self.term.folder), request.path_params["name"]
        if name not in course.settings.assignments:
            raise HTTPException(404, f"course.toml has no assignment {name!r}.")
        return course, name, self.term.marks(course, name)

    def place(self, request: Request, marks: Sequence[Mark]) -> tuple[list[str], int]:
        """Return what pages call these marks, and which of them is asked for."""
        keys, who = [key_of(mark) for mark in marks], request.query_params.get("who", "")
        if who not in keys:
            raise HTTPException(404, "No student or hand-in has this name.")
        return keys, keys.index(who)

    async def show_term(self, _request: Request) -> Response:
        """Show each assignment, and each student's marks in all of them."""
        course = Course.read(self.term.folder)
        marks = {name: self.term.marks(course, name) for name in course.settings.assignments}
        figures = {name: overview(of_one) for name, of_one in marks.items()}
        return self.page("term.html", course=course, marks=marks, figures=figures)

    async def show_class(self, request: Request) -> Response:
        """Show an assignment."""
        course, name, marks = self.read(request)
        return self.page("class.html", course=course, name=name, marks=marks, **overview(marks))

    async def show_student(self, request: Request) -> Response:
        """Show a student's report beside the program, and the form for marks by hand."""
        return self.student(request)

    def student(
        self, request: Request, trouble: str = "", typed: Mapping[str, str] | None = None
    ) -> Response:
        """Return a student's page; with `trouble` nothing of the form as `typed` was saved."""
        course, name, marks = self.read(request)
        keys, at = self.place(request, marks)
        mark = marks[at]
        own = mark.hand_in.submission.name if mark.hand_in else None
        pairs = [
            (n, pair)
            for n, pair in enumerate(self.term.pairs(course, name, alike.THRESHOLD))
            if own in (pair.one.name, pair.other.name)
        ]
        return self.page(
            "student.html",
            409 if trouble else 200,
            course=course,
            name=name,
            mark=mark,
            at=at,
            keys=keys,
            programs=programs_of(mark),
            fields=fields_of(course, mark),
            there=form_of(mark),
            typed=typed or form_of(mark),
            seen=manual_table(self.term.folder).digest,
            pairs=pairs,
            trouble=trouble,
            saved="saved" in request.query_params,
        )

    async def save(self, request: Request) -> Response:
        """Write what a form decides into ``manual.csv``, unless that has changed meanwhile."""
        if request.headers.get("origin") != f"http://{request.headers['host']}":
            raise HTTPException(403, "This form is not one of the desk's.")
        form = dict(parse_qsl((await request.body()).decode(errors="replace"), True))
        course, name, marks = self.read(request)
        students = [mark for mark in marks if mark.student]
        keys, at = self.place(request, students)
        try:
            self.term.decide(course, name, students[at], form)
        except CourseError as error:
            there = form_of(students[at])
            if form.get("seen") != manual_table(self.term.folder).digest:  # what is there now stays
                lines = [*there["comments"].splitlines(), *form.get("comments", "").splitlines()]
                form |= {key: text for key, text in there.items() if not form.get(key)}
                form["comments"] = "\n".join(dict.fromkeys(lines))
            return self.student(request, str(error), form)
        who, said = keys[at], "&saved"
        if "next" in form and at + 1 < len(keys):
            who, said = keys[at + 1], ""
        return RedirectResponse(f"student?who={quote(who, safe='')}{said}", 303, HEADERS)

    async def show_alike(self, request: Request) -> Response:
        """Show the pairs of programs that are alike, or one of them side by side."""
        course, name, marks = self.read(request)
        try:
            threshold = float(request.query_params.get("threshold", alike.THRESHOLD))
            place = int(request.query_params.get("pair", -1))
        except ValueError:
            raise HTTPException(422, "The threshold is a number of percent.") from None
        pairs = self.term.pairs(course, name, min(max(threshold, 1), 100))
        pair = pairs[place] if 0 <= place < len(pairs) else None
        return self.page(
            "alike.html",
            course=course,
            name=name,
            pairs=pairs,
            pair=pair,
            lines=alike.lines_in_both(pair) if pair else (),
            threshold=threshold,
            whose={one.submission.name: mark for mark in marks for one, _ in mark.attempts},
            passage=alike.LENGTH + alike.WINDOW - 1,
            least=alike.LENGTH,
        )


def make_app(folder: Path, scratch: Path, token: str, content: Callable[[str], bytes]) -> Starlette:
    """Return the desk of a term's folder below ``/token/``; `content` gives the styles."""
    desk = Desk(Term(folder, scratch), token, content)
    return Starlette(
        routes=desk.routes(),
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
        exception_handlers={HTTPException: desk.show_error, CourseError: desk.show_error},
    )


def serve(folder: Path, listener: Any, content: Callable[[str], bytes]) -> None:
    """Serve the desk on a socket that listens, until Ctrl-C."""
    Course.read(folder)  # what is wrong in it is said at once
    token = secrets.token_urlsafe(24)
    with TemporaryDirectory(prefix="py2048-desk-") as scratch, suppress(KeyboardInterrupt):
        app = make_app(folder, Path(scratch), token, content)
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/{token}/", flush=True)
        config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
        uvicorn.Server(config).run(sockets=[listener])
