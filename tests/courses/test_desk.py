"""The teacher's desk shows what is graded and keeps what is decided; no one else can write."""

from __future__ import annotations

import asyncio
import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import httpx
import pytest
import test_term
from test_alike import program
from test_term import hand_in, rows
from tests.processes import python

from py2048.courses.term.desk import make_app
from py2048.server.site.pages import assets

term, run = test_term.term, test_term.run
HOME = "http://127.0.0.1:2049"
OWN = {"origin": HOME}


class Browser:
    """A browser at the desk of a term, whose address holds the word ``word``."""

    def __init__(self, term: Path, scratch: Path) -> None:
        self.app = make_app(term, scratch, "word", assets().content)

    def ask(self, method: str, path: str, **how: Any) -> httpx.Response:
        """The answer at the end of redirections."""

        async def answer() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, follow_redirects=True) as client:
                return await client.request(method, urljoin(f"{HOME}/word/", path), **how)

        return asyncio.run(answer())

    def get(self, path: str, **how: Any) -> httpx.Response:
        """A page."""
        return self.ask("GET", path, **how)


@pytest.fixture
def desk(term, tmp_path_factory):
    """A browser at the desk of the term."""
    return Browser(term, tmp_path_factory.mktemp("read"))


def seen(page: str) -> str:
    """What a form knows of ``manual.csv``."""
    return re.search('name="seen" value="(.*?)"', page)[1]


def save(desk, who: str, seen: str, headers=OWN, **fields: str):
    """Send the form of a student of the second assignment."""
    form = {name.replace("__", ":"): text for name, text in fields.items()}
    path = f"second/student?who={quote(who)}"
    return desk.ask("POST", path, data={"seen": seen, **form}, headers=headers)


def words(page: str) -> str:
    """The text of a page."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_what_is_graded_is_shown_at_once(term, run, desk):
    """The term, a class with its tasks and the checks that fail, a report beside the program."""
    hand_in(term, "first/1001/app.py")
    hand_in(term, "first/1002/app.py", "# earns 1 2", "2026-10-18T08:00")
    assert run("grade", "first")[0] == 0
    hand_in(term, "first/1003/app.py", "# earns 1\n\nx = 1")
    hand_in(term, "first/stranger/app.py", "# earns 3")
    home = words(desk.get("").text)
    assert "3 of 8 handed in" in home
    assert "Ann Smith 1001 A 9 " in home
    page = desk.get("first/")
    shown = words(page.text)
    assert "Ann Smith 9 / 9 2026-10-01 12:00" in shown
    assert "Bob Stone 4.8 / 9 2 2026-10-18 08:00" in shown
    assert "Cy Young no mark 2026-10-01 12:00 not graded yet" in shown
    assert "Sam Lee no mark nothing handed in" in shown
    assert "matches no student in roster.csv" in shown
    assert "Task 3: sums 1 Bob Stone" in shown
    assert "90 to 100 % 1 1" in shown
    assert run("grade", "first")[0] == 0
    page = desk.get("first/student?who=1003").text
    assert "4 / 9" in words(page)
    assert "add(1, 2)" in page
    assert "<span>x = 1" in page
    assert 'rel="prev" href="student?who=1002"' in page
    assert 'rel="next" href="student?who=1004"' in page
    assert "4 of 9" in words(desk.get("first/student?who=1004").text)


def test_a_decision_is_kept_and_all_else_stays(term, run, desk):
    """Rows of others and columns of one's own are as they were; ``course grade`` reads the rest."""
    hand_in(term, "second/1003/app.py", "# earns 1 2")
    assert run("grade", "second")[0] == 0
    manual = term / "manual.csv"
    manual.write_text(
        "assignment;id;item;marks;comment;by\nsecond;1004;style;1,50;neat;me\n"
        "second;cy@uni.edu;late;0;was ill;me\nfirst;1003;1;2;;me\n"
    )
    page = desk.get("second/student?who=1003").text
    assert "was ill" in page
    fields = {"item__style": "1,5", "item__3": "2", "item__late": "0"}
    page = save(desk, "1003", seen(page), comments="was ill\r\n=well done", **fields).text
    assert "Saved" in page
    assert "9.5 / 10.5" in words(page)
    assert manual.read_text().splitlines() == [
        "assignment;id;item;marks;comment;by",
        "second;1004;style;1,50;neat;me",
        "second;cy@uni.edu;late;0;was ill;me",
        "first;1003;1;2;;me",
        "second;1003;style;1,5;;",
        "second;1003;3;2;;",
        "second;1003;;; =well done;",
    ]
    assert run("grade", "second")[0] == 0
    row = rows(term, "second")["1003"]
    assert (row["total"], row["comment"]) == ("9.5", "was ill =well done")
    fields = {"item__style": "", "item__3": "", "item__late": ""}
    page = save(desk, "1003", seen(page), comments="was ill", **fields).text
    assert "not marked: style" in page
    assert manual.read_text().splitlines() == [
        "assignment;id;item;marks;comment;by",
        "second;1004;style;1,50;neat;me",
        "second;cy@uni.edu;;;was ill;me",
        "first;1003;1;2;;me",
    ]


def test_an_edit_made_meanwhile_is_not_lost(term, desk):
    """Nothing is saved over it; what was typed stays in the form, beside what the file has now."""
    manual = term / "manual.csv"
    page = desk.get("second/student?who=1003").text
    manual.write_text(manual.read_text() + "second,1003,style,1,from a spreadsheet\n")
    was = manual.read_bytes()
    answer = save(desk, "1003", seen(page), item__style="0.5", comments="so <so>")
    assert answer.status_code == 409
    assert "manual.csv has changed since you opened this page" in answer.text
    assert 'value="0.5"' in answer.text
    assert "in manual.csv: 1" in answer.text
    assert "from a spreadsheet\nso &lt;so&gt;" in answer.text
    assert manual.read_bytes() == was
    assert "Saved" in save(desk, "1003", seen(answer.text), item__style="0.5").text


def test_a_group_can_be_marked_at_once(term, desk):
    """Each of it has the marks, and keeps comments of one's own."""
    hand_in(term, "second/red/app.py")
    manual = term / "manual.csv"
    manual.write_text("assignment,id,item,marks,comment\nsecond,1002,late,0,was ill\n")
    page = desk.get("second/student?who=1001").text
    assert "Also apply to <bdi>Bob Stone</bdi>" in page
    save(desk, "1001", seen(page), item__style="1", comments="neat", group="on")
    assert manual.read_text().splitlines()[1:] == [
        "second,1002,late,0,was ill",
        "second,1001,style,1,",
        "second,1001,,,neat",
        "second,1002,style,1,",
        "second,1002,,,neat",
    ]


@pytest.mark.parametrize(
    ("item", "marks", "said"),
    [
        ("style", "9", "style = 9 must be from 0 to 1.5"),
        ("style", "good", "style = 'good' is not a number"),
        ("attempt", "7", "there is no attempt 7 of '1003', who has 1"),
        ("stile", "1", "did you mean 'style'"),
    ],
)
def test_marks_that_cannot_be_are_refused(term, desk, item, marks, said):
    """In one line, and nothing is written."""
    hand_in(term, "second/1003/app.py")
    was = (term / "manual.csv").read_bytes()
    page = desk.get("second/student?who=1003").text
    answer = save(desk, "1003", seen(page), **{f"item:{item}": marks})
    assert answer.status_code == 409
    assert said in unescape(answer.text)
    assert (term / "manual.csv").read_bytes() == was


def test_no_other_page_reads_or_writes(term, desk):
    """Without the word, under another host's name, or from another origin."""
    was = (term / "manual.csv").read_bytes()
    page = desk.get("second/student?who=1003")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert desk.get("/second/").status_code == 404
    assert desk.get("/other/second/").status_code == 404
    assert desk.get("second/", headers={"host": "evil.example:2049"}).status_code == 400
    for headers in ({}, {"origin": "http://evil.example"}, {"origin": "null"}):
        answer = save(desk, "1003", seen(page.text), headers, item__style="1")
        assert answer.status_code == 403
    assert (term / "manual.csv").read_bytes() == was


def test_nothing_of_a_student_is_obeyed_by_the_page(term, run, desk):
    """Neither markup nor what turns a line; a name with any character has its page."""
    who = 'x/"&<b>'
    roster = term / "roster.csv"
    roster.write_text(f'id,name\n"{who.replace(chr(34), 2 * chr(34))}",<script>\u202eeve\n')
    hand_in(term, "first/eve/app.py", "# earns 1 <script>\u202e}\x1b[0m")
    assert run("grade", "first")[0] == 0
    for path in ("", "first/", f"first/student?who={quote(who)}"):
        page = desk.get(path)
        assert page.status_code == 200
        assert "<b>" not in page.text
        assert "<script>" not in page.text
        assert "\u202e" not in page.text
        assert "&lt;script&gt;\\u202eeve" in page.text
    page = desk.get("first/student?who=eve%20attempt%201").text
    page += desk.get(f"first/student?who={quote('eve')}").text
    assert "<script>" not in page
    answer = save(
        desk, who, seen(desk.get(f"second/student?who={quote(who)}").text), item__style="1"
    )
    assert "Saved" in answer.text


def test_programs_that_are_alike_are_linked(term, desk):
    """From the class and from each student to both side by side, and no one is blamed."""
    for who in ("1003", "1007"):
        hand_in(term, f"first/{who}/app.py", program(1) + f"# <script>{who}\n")
    assert "alike?pair=0" in desk.get("first/student?who=1003").text
    assert "100 %" in words(desk.get("first/alike").text)
    page = desk.get("first/alike?pair=0").text
    assert page.count('class="both"') >= 100
    assert "<script>1003" not in page
    assert "student?who=1007" in page
    assert desk.get("first/alike?threshold=much").status_code == 422
    for word in ("plagiar", "cheat", "copied", "suspect", "fraud"):
        assert word not in (page + desk.get("first/alike").text).lower()


def test_what_is_wrong_in_the_folder_is_one_line(term, desk):
    """Until it is mended; nothing has to be started again."""
    manual = term / "manual.csv"
    good = manual.read_bytes()
    manual.write_text("assignment,id,item,marks,comment\nfirst,9,total,5,\n")
    answer = desk.get("first/")
    assert answer.status_code == 422
    assert "manual.csv, row 2: there is no student with the id '9' in roster.csv" in unescape(
        answer.text
    )
    manual.write_bytes(good)
    assert desk.get("first/").status_code == 200
    assert desk.get("fourth/").status_code == 404


def test_what_the_desk_needs_is_named_once():
    """In one line, with the command that installs it."""
    code = "import sys; sys.modules['uvicorn'] = None; from py2048.cli import main; main()"
    said = python("-c", code, "course", "desk", "term")
    assert said.stderr.count("\n") == 1
    assert "needs uvicorn, which is not installed: " in said.stderr
    assert "pip install 'py2048[web]'" in said.stderr
