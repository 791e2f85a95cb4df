"""What a studio does when it ends, when it is misused, and what it leaves behind."""

import json
import os
import random
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import bayesieve
from bayesieve import Session
from bayesieve.app.cli import app
from bayesieve.app.studio.launch import _asked_to_end
from studios import client, opened, rows, upload


def saved_at(line):
    """The file that a line tells of."""
    return Path(shlex.split(re.search("your work is in (.*): bayesieve studio", line)[1])[0])


def test_work_without_a_project_lands_in_a_temporary_folder(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = []
    running = start(say=told.append)
    page, _ = opened(running)
    state = page.post("/api/edit", json={"action": "pin", "columns": [2], "note": "why"}).json()
    running.close()
    assert list(tmp_path.iterdir()) == []
    place = saved_at(told[-1])
    assert Session.load(place).log == state["log"]
    assert place.parent.stat().st_mode & 0o077 == 0
    place.unlink()
    place.parent.rmdir()


def test_where_nothing_was_done_nothing_is_written(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = []
    running = start(say=told.append)
    opened(running)
    running.close()
    assert told == []
    assert list(tmp_path.iterdir()) == []


def test_a_project_that_cannot_be_written_ends_nothing(start, tmp_path):
    told = []
    folder = tmp_path / "gone"
    folder.mkdir()
    running = start(project=folder / "p.bayesieve", idle=0.5, say=told.append)
    page, _ = opened(running)
    folder.rmdir()
    page.post("/api/edit", json={"action": "pin", "columns": [2]})
    running.watch()
    assert "cannot be saved at" in told[0]
    place = saved_at(told[-1])
    assert Session.load(place).pinned == ["f2"]
    place.unlink()
    place.parent.rmdir()


def test_other_work_is_not_written_over(tmp_path):
    table, project = tmp_path / "t.csv", tmp_path / "p.bayesieve"
    rows().to_csv(table, index=False)
    project.write_bytes(b"other work")
    done = CliRunner().invoke(app, ["studio", str(table), f"--project={project}", "--no-browser"])
    assert "holds other work" in str(done.exception)
    assert project.read_bytes() == b"other work"
    nowhere = tmp_path / "nope" / "p.bayesieve"
    done = CliRunner().invoke(app, ["studio", str(table), f"--project={nowhere}", "--no-browser"])
    assert "does not exist" in str(done.exception)


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize(
    "sign", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.slow)]
)
def test_a_kill_saves_the_work_and_leaves_nothing(tmp_path, sign):
    temporary, home = tmp_path / "temporary", tmp_path / "home"
    temporary.mkdir()
    home.mkdir()
    table = tmp_path / "t.csv"
    rows().to_csv(table, index=False)
    command = [sys.executable, "-m", "bayesieve", "studio", "--no-browser", "--jobs=1"]
    source = str(Path(bayesieve.__file__).parents[1])
    env = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": source}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=home, env=env, stdout=pipe, stderr=pipe, text=True) as run:
        address = re.search(r"http://\S+", run.stdout.readline())[0]

        class Running:
            class keys:  # noqa: N801
                port = int(re.search(r":(\d+)/", address)[1])
                token = address.split("token=")[1]

        page, _ = opened(Running)
        page.post("/api/edit", json={"action": "pin", "columns": [2]})
        run.send_signal(sign)
        _, said = run.communicate(timeout=600)
    assert Session.load(saved_at(said)).pinned == ["f2"]
    assert "Traceback" not in said
    assert [each.name for each in temporary.iterdir()] == [saved_at(said).parent.name]
    assert list(home.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
@pytest.mark.usefixtures("usual_signals")
def test_what_is_ignored_stays_ignored():
    """As `nohup bayesieve studio &` wants it."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with _asked_to_end():
        signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with pytest.raises(KeyboardInterrupt), _asked_to_end():
        signal.raise_signal(signal.SIGHUP)
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_DFL


# -- misuse ---------------------------------------------------------------------------------------

NONSENSE = [
    *(b"", b"nonsense", b"[]", b"null", b"3", b'"x"', b"\xff\xfe", b"[" * 100_000),
    *(b'{"a":' * 50_000, b'{"at": 1e400}', b'{"at": NaN}', b'{"at": "x"}', b'{"at": -1}'),
    b'{"at": ' + b"9" * 5000 + b"}",
    *(b'{"at": 0, "changes": %s}' % each for each in (b"3", b"[1]", b'{"f0": {}}', b'"x"')),
    *(b'{"action": %s}' % each for each in (b"3", b"[]", b'"__init__"', b'"add"', b'"_change"')),
    *(b'{"action": "add", "columns": %s}' % each for each in (b"3", b"[-1]", b"[0.5]", b"[[]]")),
    *(b'{"action": "swap", "columns": %s}' % each for each in (b"[]", b"[0]", b"[0, 1, 2]")),
    *(b'{"what": %s}' % each for each in (b'"cancel"', b"{}", b'"stop"')),
    *(b'{"preset": %s}' % each for each in (b'"nope"', b"3")),
    *(b'{"search": %s}' % each for each in (b'"nope"', b"[1]")),
    *(b'{"target": "kind", "features": %s}' % each for each in (b"3", b'{"f0": []}', b'{"x": 1}')),
    *(b'{"target": "kind", "rows": %s}' % each for each in (b'"x"', b'"0-999999999"', b"3")),
]


def test_nonsense_is_refused_in_a_sentence_and_changes_nothing(start):
    running = start()
    page, _ = opened(running)
    page.post("/api/edit", json={"action": "add", "columns": [0, 1]})
    for what in ("edit", "rule", "pick", "halt", "target"):
        for content in NONSENSE:
            answer = page.post(f"/api/{what}", content=content)
            assert answer.status_code == 200, (what, content[:80], answer.text)
            assert len(answer.json().get("refused", "")) > 10, (what, content[:80])
    for content in NONSENSE:
        if b"search" in content or b"preset" in content:
            assert "refused" in page.post("/api/search", content=content).json(), content[:80]
    for path in (
        "model?rows=x",
        "model?rows=-1",
        "histograms?at=x",
        "histograms?at=99",
        "room?bytes=x",
    ):
        assert "refused" in page.get(f"/api/{path}").json(), path
    assert page.get("/api/state").json()["subset"] == [0, 1]
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert page.request(method, "/api/state").status_code == 405


@pytest.mark.parametrize(
    "name",
    ["a.\0", "x." + "ß" * 190, "x." + "a" * 190, "..", "/etc/passwd", "a.csv/../../b", "\n", "a."],
)
def test_names_of_files_are_never_paths(start, name):
    running = start()
    page = client(running)
    answer = page.post("/api/upload", params={"name": name}, content=b"a,b\n1,2\n")
    assert "the ending of" in answer.json()["refused"]
    assert list(running.studio.uploads.iterdir()) == []


def test_a_file_that_came_before_is_removed(start):
    running = start()
    page, _ = opened(running)
    assert upload(page, rows(seed=1)).status_code == 200
    assert len(list(running.studio.uploads.iterdir())) == 1
    assert running.bench.table.path.exists()
    most = running.studio.most_bytes
    assert "larger than" in page.get("/api/room", params={"bytes": most + 1}).json()["refused"]
    assert "refused" not in page.get("/api/room", params={"bytes": most}).json()


def test_an_upload_that_breaks_off_leaves_nothing(start):
    running = start()
    page = client(running)
    cookie = "; ".join(f"{key}={value}" for key, value in page.cookies.items())
    host = f"127.0.0.1:{running.keys.port}"
    head = f"POST /api/upload?name=t.csv HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
    with socket.create_connection(("127.0.0.1", running.keys.port)) as line:
        line.sendall(f"{head}Cookie: {cookie}\r\nContent-Length: 999\r\n\r\na,b\n".encode())
        for _ in range(6000):
            if list(running.studio.uploads.iterdir()):
                break
            time.sleep(0.05)
        assert len(list(running.studio.uploads.iterdir())) == 1
    for _ in range(6000):
        if not list(running.studio.uploads.iterdir()):
            break
        time.sleep(0.05)
    assert list(running.studio.uploads.iterdir()) == []


def test_many_who_edit_at_once_lose_nothing(start):
    running = start()
    page, _ = opened(running)
    failures = []

    def storm(seed):
        mine, draw = client(running), random.Random(seed)
        for _ in range(25):
            action = draw.choice(["add", "drop", "pin", "release", "strike", "group", "undo"])
            columns = draw.sample(range(8), 2 if action == "group" else 1)
            answer = mine.post("/api/edit", json={"action": action, "columns": columns})
            if answer.status_code != 200:
                failures.append(answer.text)

    ends = [threading.Thread(target=storm, args=(seed,)) for seed in range(4)]
    for each in ends:
        each.start()
    for each in ends:
        each.join(600)
    assert failures == []
    session = running.bench.session
    session.state.judge(session.names)
    state = page.get("/api/state").json()
    twin = Session(session.X, session.y).resume(session.state, [], [])
    assert state["score"] == twin.score()
    assert state["error"] == list(twin.error())
    assert json.dumps(state["log"][-1]) == json.dumps(session.log[-1])
