"""The desk shows the grading and saves decisions; nobody else can write."""

from __future__ import annotations

import asyncio
import io
import re
import socket
import sys
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

import httpx
import pytest
import test_term
import uvicorn
from disguises import PROGRAMS
from test_term import hand_in, rows

from py2048.courses.term.desk import make_app, serve
from py2048.server.site.pages import assets

term, run = test_term.term, test_term.run
HOME = "http://127.0.0.1:2049"
OWN = {"origin": HOME}
HEAD = "assignment,id,item,marks,comment\n"


class Browser:
    """A browser at the desk, whose token is ``word``."""

    def __init__(self, term: Path, scratch: Path) -> None:
        self.app = make_app(term, scratch, "word", assets().content)

    def ask(self, method: str, path: str, **how: Any) -> httpx.Response:
        """Send a request, following redirects."""

        async def answer() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, follow_redirects=True) as client:
                return await client.request(method, urljoin(f"{HOME}/word/", path), **how)

        return asyncio.run(answer())

    def get(self, path: str, **how: Any) -> httpx.Response:
        """Load a page."""
        return self.ask("GET", path, **how)


@pytest.fixture
def desk(term, tmp_path_factory):
    """A browser at the term's desk."""
    return Browser(term, tmp_path_factory.mktemp("read"))


def seen(page: str) -> str:
    """The digest of ``manual.csv`` in a form."""
    return re.search('name="seen" value="(.*?)"', page)[1]


def save(desk, who: str, seen: str, headers=OWN, name: str = "second", **fields: str):
    """Submit a student's form in an assignment."""
    form = {"seen": seen} | {field.replace("__", ":"): text for field, text in fields.items()}
    return desk.ask("POST", f"{name}/student?who={quote(who)}", data=form, headers=headers)


def words(page: str) -> str:
    """The text of a page."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_new_results_are_shown_immediately(term, run, desk):
    """The term, the class and each student's page show new results without a restart."""
    hand_in(term, "first/1001/app.py")
    hand_in(term, "first/1002/app.py", "# earns 1 2", "2026-10-18T08:00")
    assert run("grade", "first")[0] == 0
    hand_in(term, "first/1003/app.py", "# earns 1\n\nx = 1")
    hand_in(term, "first/stranger/app.py", "# earns 3")
    home = words(desk.get("").text)
    assert re.search("3 of 8 handed in *, 83 % on average", home)
    assert "Ann Smith 1001 A 9 " in home
    text = words(desk.get("first/").text)
    assert "Ann Smith A 9 / 9 2026-10-01 12:00" in text
    assert "Bob Stone A 6 / 9 2026-10-18 08:00 may be late: only its files" in text
    assert "Cy Young A no mark 2026-10-01 12:00 not graded yet" in text
    assert "Sam Lee B no mark nothing handed in" in text
    assert "matches no student in roster.csv" in text
    assert "Task 3: sums 1 Bob Stone" in text
    assert "90 to 100 % 1 1" in text
    assert run("grade", "first")[0] == 0
    page = desk.get("first/student?who=1003").text
    assert "4 / 9" in words(page)
    assert "add(1, 2)" in page
    assert "<span>x = 1" in page
    assert 'rel="prev" href="student?who=1002"' in page
    assert 'rel="next" href="student?who=1004"' in page
    page = desk.get("first/student?who=1004").text
    assert "4 of 9" in words(page)
    assert "item:attempt" not in page


def test_a_decision_changes_nothing_else(term, run, desk):
    """Other rows and additional columns of ``manual.csv`` stay as they are."""
    hand_in(term, "second/1003/app.py", "# earns 1 2")
    assert run("grade", "second")[0] == 0
    manual = term / "manual.csv"
    manual.write_text(
        "assignment;id;item;marks;comment;by\nsecond;1003;style;1;;you\n"
        "second;1004;style;1,50;neat;me\n"
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
        "second;1003;style;1,5;;you",
        "second;1004;style;1,50;neat;me",
        "second;cy@uni.edu;late;0;was ill;me",
        "first;1003;1;2;;me",
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


def test_a_concurrent_edit_is_not_lost(term, desk):
    """The form shows both the entries and the file's current content, and saves nothing."""
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
    """Each member gets the marks and keeps their own comments; otherwise, only one student does."""
    hand_in(term, "second/red/app.py")
    manual = term / "manual.csv"
    manual.write_text(f"{HEAD}second,1002,late,0,was ill\n")
    page = desk.get("second/student?who=1001").text
    assert "Also apply to <bdi>Bob Stone</bdi>" in page
    fields = {"item__late": "", "comments": "neat"}
    page = save(desk, "1001", seen(page), item__style="1", group="on", **fields).text
    save(desk, "1001", seen(page), item__style="1.5", **fields)
    assert manual.read_text().splitlines()[1:] == [
        "second,1002,late,0,was ill",
        "second,1001,style,1.5,",
        "second,1001,,,neat",
        "second,1002,style,1,",
        "second,1002,,,neat",
    ]


@pytest.mark.parametrize(
    ("item", "marks", "message"),
    [
        ("style", "9", "style = 9 must be from 0 to 1.5"),
        ("style", "good", "style = 'good' is not a number"),
        ("attempt", "7", "there is no attempt 7 of '1003', who has 1"),
        ("stile", "1", "did you mean 'style'"),
    ],
)
def test_invalid_marks_are_rejected(term, desk, item, marks, message):
    """The page shows one line, and nothing is written."""
    hand_in(term, "second/1003/app.py")
    was = (term / "manual.csv").read_bytes()
    page = desk.get("second/student?who=1003").text
    answer = save(desk, "1003", seen(page), **{f"item:{item}": marks})
    assert answer.status_code == 409
    assert message in unescape(answer.text)
    assert "manual.csv, row" not in answer.text  # where the marks would be
    assert (term / "manual.csv").read_bytes() == was


def test_a_stray_hand_in_is_assigned(term, run, desk):
    """It belongs to the named student from then on; ``manual.csv`` is created for the decision."""
    manual = term / "manual.csv"
    manual.unlink()
    hand_in(term, "first/stranger/app.py", "# earns 3")
    page = desk.get(f"first/student?who={quote(who := 'stranger attempt 1')}").text
    assert "Whose hand-in is this?" in page
    answer = save(desk, who, seen(page), name="first", assign="9 Zed")
    assert "there is no student with the id" in answer.text
    page = save(desk, who, seen(page), name="first", assign="1008 S. Lee").text
    assert "The hand-in stranger was assigned by hand" in words(page)
    assert manual.read_text("utf-8") == f"{HEAD}first,1008,hand-in,stranger,\n"
    save(desk, "1008", seen(page), name="first", item__late="1", comments="hm")
    assert run("grade", "first")[0] == 0
    assert (rows(term, "first")["1008"]["total"], len(rows(term, "first"))) == ("2.7", 8)


def test_lines_can_be_commented(term, run, desk):
    """A comment stands below its line and on the students' pages until it is removed."""
    hand_in(term, "second/red/app.py", "# earns 1\nx = 1\n")
    page = desk.get("second/student?who=1001").text
    fields = {"file": "app.py", "line": "2", "group": "on"}
    page = save(desk, "1001", seen(page), text="name <it>", **fields).text
    assert "x = 1\n</span><q>name &lt;it&gt;</q>" in page
    page = save(desk, "1001", seen(page), comments="fine").text
    assert "<q>" in page
    assert run("grade", "second")[0] == 0
    for who in ("1001", "1002"):
        text = (term / "results" / "second" / f"{who}.html").read_text()
        assert "<b>app.py:2</b>: name &lt;it&gt;" in text
    assert "second,1002,app.py:2,,name <it>" in (term / "manual.csv").read_text()
    page = save(desk, "1001", seen(page), text="", **fields).text
    assert "<q>" not in page
    assert "app.py:2" not in (term / "manual.csv").read_text()


def test_other_sites_cannot_read_or_write(term, desk):
    """Requests without the token, for another host or from another origin are rejected."""
    was = (term / "manual.csv").read_bytes()
    page = desk.get("second/student?who=1003")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert [desk.get(path).status_code for path in ("/second/", "/other/second/")] == [404] * 2
    assert desk.get("second/", headers={"host": "evil.example:2049"}).status_code == 400
    for headers in ({}, {"origin": "http://evil.example"}, {"origin": "null"}):
        answer = save(desk, "1003", seen(page.text), headers, item__style="1")
        assert answer.status_code == 403
    assert (term / "manual.csv").read_bytes() == was


def test_students_texts_are_escaped(term, run, desk):
    """Markup and invisible characters are shown as text, and any name has a page."""
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
    page = desk.get(f"second/student?who={quote(who)}").text
    assert "Saved" in save(desk, who, seen(page), item__style="1").text


def test_similar_programs_are_linked(term, desk):
    """Students and class link to both programs side by side, without accusing anyone."""
    ring = f"class Grid:\n{PROGRAMS['cmput175']['stack']}# <script>"
    for who in ("1003", "1007"):
        hand_in(term, f"first/{who}/app.py", ring + who)
    address = "alike?one=1003%20attempt%201&other=1007%20attempt%201"
    assert address in unescape(desk.get("first/student?who=1003").text)
    assert "2 programs, 100 % similar" in words(desk.get("first/alike").text)
    page = desk.get(f"first/{address}").text
    assert page.count('class="both"') >= 100
    assert "<script>1003" not in page
    assert "student?who=1007" in page
    assert desk.get("first/alike?threshold=much").status_code == 422
    for word in ("plagiar", "cheat", "copied", "suspect", "fraud"):
        assert word not in (page + desk.get("first/alike").text).lower()
    for who in ("1001", "1002", "1004"):
        hand_in(term, f"first/{who}/app.py", ring + who)
    assert "<summary>4 similar programs</summary>" in desk.get("first/student?who=1003").text


def test_an_error_in_the_folder_is_one_line(term, desk):
    """The desk recovers as soon as the file is corrected."""
    manual = term / "manual.csv"
    good = manual.read_bytes()
    manual.write_text(f"{HEAD}first,9,total,5,\n")
    answer = desk.get("first/")
    assert answer.status_code == 422
    assert "manual.csv, row 2: there is no student with the id '9'" in unescape(answer.text)
    manual.write_bytes(good)
    assert desk.get("first/").status_code == 200
    missing = "fourth/", "first/student?who=nobody", "files/nothing"
    assert [desk.get(each).status_code for each in missing] == [404] * 3
    assert desk.get("files/css/desk.css").headers["content-type"] == "text/css; charset=utf-8"


def test_the_served_address_is_printed_at_once(term, desk, monkeypatch):
    """A program that starts the desk can read its address; Ctrl-C ends the desk quietly."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written))

    def run(server: uvicorn.Server, sockets: list[socket.socket]) -> None:
        port, address = sockets[0].getsockname()[1], written.getvalue().decode().strip()
        assert re.fullmatch(rf"http://127\.0\.0\.1:{port}/[\w-]{{32}}/", address)
        desk.app = server.config.app
        assert desk.get(address).status_code == 200
        raise KeyboardInterrupt

    monkeypatch.setattr(uvicorn.Server, "run", run)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serve(term, listener, assets().content)
