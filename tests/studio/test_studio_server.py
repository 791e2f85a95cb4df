"""The studio's server, spoken to over the loopback as a browser would, and as a stranger would."""

import io
import json
import shlex
import socket
import threading
import time
from pathlib import Path

import httpx
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

from bayesieve import Session, save_model
from bayesieve.app.cli import app
from bayesieve.app.studio.launch import open_bench
from bayesieve.app.studio.server import POLICY
from bayesieve.explain.report.page import SCRIPTS, asset
from studios import ODD, client, opened, rows, upload

# -- who may come in ------------------------------------------------------------------------------


def test_the_way_in_is_the_address_that_was_printed(start):
    running = start()
    base = f"http://127.0.0.1:{running.keys.port}"
    assert running.address == f"{base}/?token={running.keys.token}"
    assert len(running.keys.token) > 40
    for path in ("/", "/api/state", "/api/events", "/static/main.js", "/?token=wrong", "/login"):
        assert httpx.get(base + path).status_code in (401, 404), path
    answer = httpx.get(running.address)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert running.keys.token not in cookie
    page = client(running)
    assert "bayesieve" in page.get("/").text
    assert page.get("/api/state").json()["open"] is False


def test_strangers_are_refused(start):
    running = start()
    page = client(running)
    port = running.keys.port
    for host in (
        f"evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1.evil.example:{port}",
        "localhost",
    ):
        for path in ("/", f"/?token={running.keys.token}", "/api/state"):
            assert page.get(path, headers={"Host": host}).status_code == 421, host
    assert page.get("/api/state", headers={"Host": f"localhost:{port}", "Origin": ""}).status_code
    for origin in (
        "http://evil.example",
        "null",
        f"http://127.0.0.1:{port + 1}",
        f"https://x:{port}",
    ):
        assert page.get("/api/state", headers={"Origin": origin}).status_code == 403, origin
        assert page.post("/api/edit", json={}, headers={"Origin": origin}).status_code == 403
    del page.headers["Origin"]
    assert page.post("/api/edit", json={"action": "undo"}).status_code == 403
    for site in ("cross-site", "same-site"):
        headers = {"Sec-Fetch-Site": site}
        assert page.get("/api/export/model", headers=headers).status_code == 403
        assert page.get("/api/state", headers=headers).status_code == 403
    assert page.get("/api/state", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_it_listens_at_this_machine_alone(start):
    running = start()
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.2", running.keys.port), timeout=60)


def test_every_answer_is_sealed(start):
    running = start()
    page = client(running)
    for path in ("/", "/static/main.js", "/static/style.css", "/api/state", "/api/nope", "/nope"):
        answer = page.get(path)
        assert answer.headers["content-security-policy"] == POLICY, path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
    assert "unsafe" not in POLICY
    refused = httpx.get(f"http://127.0.0.1:{running.keys.port}/")
    assert refused.headers["content-security-policy"] == POLICY
    for file in (Path(__file__).parents[2] / "src/bayesieve/app/studio/static").iterdir():
        text = file.read_text("utf-8")
        assert "http" not in text.replace("http://www.w3.org/2000/svg", ""), file.name
        for word in ("eval(", "innerHTML", "document.write", "<style", " style=", "onclick="):
            assert word not in text, (file.name, word)


def test_only_files_of_the_page_are_served(start):
    page = client(start())
    names = ("..%2fserver.py", "server.py", "../guard.py", "%2e%2e%2fguard.py", "nope.js", "")
    for name in names:
        assert page.get(f"/static/{name}").status_code == 404, name
        assert page.get(f"/static/report/{name}").status_code in (307, 404), name


def test_the_parts_of_the_report_are_its_own_files(start):
    page = client(start())
    assert page.get("/static/report/parts.js").text == "\n".join(map(asset, SCRIPTS[:-1]))
    assert page.get("/static/report/style.css").text == asset("colours.css") + asset("style.css")
    static = Path(__file__).parents[2] / "src/bayesieve/app/studio/static"
    text = "".join(each.read_text("utf-8") for each in static.iterdir())
    for word in ("--c1:", "polyline", "Math.exp", "Math.log"):  # colours, lines and odds are its
        assert word not in text, word


def test_other_machines_need_a_password(start):
    running = start(keys={"host": "0.0.0.0", "password": "pass word ß"})
    base = f"http://127.0.0.1:{running.keys.port}"
    with httpx.Client(base_url=base, headers={"Origin": base}) as page:
        assert page.get(f"/?token={running.keys.token}").headers["location"] == "/login"
        assert page.get("/api/state").status_code == 401
        assert "password" in page.get("/login").text
        assert page.post("/login", data={"password": "wrong"}).status_code == 401
        assert page.get("/api/state").status_code == 401
        assert page.post("/login", data={"password": "pass word ß"}).status_code == 303
        assert page.get("/api/state").status_code == 200


# -- files ----------------------------------------------------------------------------------------


def test_uploads_have_a_limit_and_leave_nothing(start):
    running = start(most_bytes=20_000)
    page = client(running)
    folder = running.studio.uploads
    answer = upload(page, rows(n=3000))
    assert answer.status_code == 413
    assert "larger than" in answer.json()["refused"]
    assert list(folder.iterdir()) == []
    assert upload(page, rows(n=50)).status_code == 200
    assert len(list(folder.iterdir())) == 1
    running.close(save=False)
    assert not folder.exists()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("table.xlsx", b"PK", "the ending of"),
        ("../../etc/passwd", b"x", "the ending of"),
        ("table.csv", b"", "empty|no rows|no header"),
        ("table.csv", b"a,b\n", "no rows"),
        ("table.parquet", b"nonsense", "."),
        ("p.bayesieve", b"nonsense", "not a project"),
    ],
)
def test_files_that_cannot_be_read_are_told_in_a_sentence(start, name, content, said):
    running = start()
    page = client(running)
    answer = page.post("/api/upload", params={"name": name}, content=content)
    assert answer.status_code == 200
    error = answer.json()["refused"]
    assert pd.Series([error]).str.contains(said).all(), error
    assert "Traceback" not in error
    assert list(running.studio.uploads.iterdir()) == []
    assert page.get("/api/state").json()["open"] is False


def test_targets_that_tell_nothing_are_refused(start):
    running = start()
    page = client(running)
    frame = rows().assign(one="same", part=0.5)
    frame.loc[3, "part"] = 0.25
    assert upload(page, frame).json()["targets"] == list(frame)
    for target, said in (("one", "one value only"), ("part", "fraction"), ("nope", "no column")):
        answer = page.post("/api/target", json={"target": target})
        assert answer.status_code == 200
        assert said in answer.json()["refused"]
    assert page.post("/api/edit", json={"action": "undo"}).json()["refused"].startswith("choose")
    assert "refused" in page.post("/api/search", content=b"[]").json()
    for many in (900_000, 2_000_000):
        assert "refused" in page.post("/api/search", content=b"[" * many).json()


def test_hostile_names_are_text(start):
    frame = rows(names=ODD)
    page, state = opened(start(), frame)
    assert page.get("/api/columns").json()["names"] == [*ODD, "size"]
    page.post("/api/edit", json={"action": "add", "columns": [1, 3], "note": "<img src=x>"})
    for kind in ("model", "sql", "python", "code", "report"):
        answer = page.get(f"/api/export/{kind}")
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-disposition"].startswith("attachment")
    assert "<script>window.hacked" not in page.get("/api/export/report").text
    assert state["file"] == "table.csv"


# -- work -----------------------------------------------------------------------------------------


def test_pages_do_what_a_session_does(start):
    running = start()
    page, state = opened(running)
    assert state["classes"] == ["no", "yes"]
    twin = Session(
        pl.read_csv(io.BytesIO(rows().to_csv(index=False).encode())).drop("kind"),
        rows()["kind"].to_numpy(),
    )
    for action, columns in (
        ("add", [0, 8]),
        ("pin", [2]),
        ("strike", [1]),
        ("group", [3, 4]),
        ("swap", [0, 5]),
        ("drop", [8]),
        ("release", [2]),
        ("undo", []),
        ("redo", []),
    ):
        answer = page.post("/api/edit", json={"action": action, "columns": columns}).json()
        getattr(twin, action)(*columns)
        assert answer["subset"] == list(twin.state.subset)
        assert answer["score"] == twin.score()
        assert answer["error"] == list(twin.error())
        assert answer["groups"] == [list(group) for group in twin.state.groups]
    for wrong in (
        {"action": "add", "columns": [99]},
        {"action": "add", "columns": [1]},
        {"action": "nope"},
        {"action": "add", "columns": ["f0"]},
    ):
        assert "refused" in page.post("/api/edit", json=wrong).json()
    assert page.get("/api/state").json()["score"] == twin.score()


def wait(page):
    for _ in range(6000):
        state = page.get("/api/state").json()
        if not state["running"]:
            return state
        time.sleep(0.05)
    raise AssertionError("the search does not end")


def test_what_comes_out_is_what_the_screen_showed(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    running = start()
    page, _ = opened(running)
    page.post("/api/edit", json={"action": "strike", "columns": [0], "note": "unreliable"})
    page.post("/api/search", json={"preset": "few"})
    state = wait(page)
    assert 0 not in state["subset"]
    picked = page.post("/api/pick", json={"at": 2}).json()
    assert len(picked["subset"]) == picked["points"][2][0]
    assert picked["error"][0] == picked["points"][2][2]
    state = page.post("/api/edit", json={"action": "pin", "columns": [6]}).json()
    shown = json.loads(page.get("/api/export/model").text)
    log = shown.pop("log")
    assert log[0]["note"] == "unreliable"
    report = page.get("/api/export/report").text
    assert repr(float(f"{state['score']:.8g}")) in report
    assert all(f'"{each["name"]}"' in report for each in shown["features"])
    rows().to_csv(tmp_path / "table.csv", index=False)
    names = {}
    exec(page.get("/api/export/code").text, names)
    save_model(names["selector"], tmp_path / "code.json")
    assert json.loads((tmp_path / "code.json").read_text()) == shown
    assert names["selector"].path_.steps[0].score == state["score"]
    command = shlex.split(page.get("/api/texts").json()["command"])
    done = CliRunner().invoke(app, [*command[1:], "--resamples=0"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "selection/model.json").read_text()) == shown
    again = tmp_path / "p.bayesieve"
    again.write_bytes(page.get("/api/export/project").content)
    assert Session.load(again).score() == state["score"]
    other = start()
    reopened = client(other)
    answer = reopened.post(
        "/api/upload", params={"name": "p.bayesieve"}, content=again.read_bytes()
    ).json()
    for name in ("subset", "pinned", "struck", "score", "error", "log", "target"):
        assert answer[name] == state[name], name
    exported = json.loads(reopened.get("/api/export/model").text)
    assert exported.pop("log") == log
    assert exported == shown


def test_models_rows_and_decisions(start):
    running = start()
    page, _ = opened(running)
    assert "refused" in page.get("/api/model").json()
    page.post("/api/edit", json={"action": "add", "columns": [0, 1, 8]})
    model = page.get("/api/model").json()
    assert [each["feature"] for each in model["features"]] == ["f0", "f1", "size"]
    found = page.get("/api/model", params={"rows": "3"}).json()
    at = found["rows"]["at"].index(3)
    assert found["rows"]["truth"][at] == rows()["kind"][3]
    assert found["rules"] == [None]
    assert len(found["portable"]["problems"][0]["terms"]) == 3
    assert "no row 999" in page.get("/api/model", params={"rows": "999"}).json()["refused"]
    verdicts = page.get("/api/decisions").json()["verdicts"]
    assert [each["name"] for each in verdicts] == ["no", "yes"]
    assert "remember a subset first" in page.get("/api/compared").json()["refused"]
    page.post("/api/remember")
    page.post("/api/edit", json={"action": "drop", "columns": [8]})
    found = page.get("/api/compared").json()
    now, before = running.bench.session.held_out(), running.bench.session.held_out([0, 1, 8])
    assert found["n_apart"] == (now[1].argmax(1) != before[1].argmax(1)).sum() > 0
    bars = page.get("/api/histograms", params={"at": "0,8"}).json()
    assert sum(map(sum, bars["0"]["counts"])) == sum(map(sum, bars["8"]["counts"])) == 200


def test_all_pages_hear_of_changes_and_of_a_search(start):
    running = start()
    page, _ = opened(running, rows(n=1500, width=40))
    heard, ready = [], threading.Event()

    def listen():
        with client(running).stream("GET", "/api/events") as events:
            for line in events.iter_lines():
                if line.startswith("event: "):
                    heard.append(line[7:])
                    ready.set()
                if "substitute" in heard and "progress" in heard:
                    return

    ear = threading.Thread(target=listen, daemon=True)
    ear.start()
    assert ready.wait(600)
    page.post("/api/search", json={"preset": "accurate", "search": "forward"})
    began = time.monotonic()
    paused = page.post("/api/halt", json={"what": "pause"})
    took = time.monotonic() - began
    if paused.status_code == 200:
        assert took < 60  # not until the search ends
        page.post("/api/halt", json={"what": "go_on"})
    state = wait(page)
    ear.join(600)
    assert heard[0] == "hello"
    assert {"state", "progress", "losses", "substitute"} <= set(heard)
    assert len(state["points"]) > 20
    assert "refused" in page.post("/api/halt", json={"what": "stop"}).json()


def test_a_change_during_a_search_ends_it(start):
    running = start()
    page, _ = opened(running, rows(n=3000, width=60))
    page.post("/api/edit", json={"action": "add", "columns": [3]})
    page.post("/api/search", json={"preset": "accurate", "search": "forward"})
    state = page.post("/api/edit", json={"action": "strike", "columns": [3]}).json()
    assert state["running"] is False
    assert (state["subset"], state["struck"]) == ([], [3])


# -- beginning and end ----------------------------------------------------------------------------


def test_the_work_is_saved_and_opened_again(start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = []
    project = tmp_path / "work.bayesieve"
    running = start(project=project, idle=1.0, say=told.append)
    page, _ = opened(running)
    state = page.post("/api/edit", json={"action": "pin", "columns": [2], "note": "why"}).json()
    running.watch()  # nobody looks: it ends
    assert any("no page was open" in line for line in told)
    again = start()
    open_bench(again.bench, project, None)
    reopened = client(again).get("/api/state").json()
    assert (reopened["pinned"], reopened["score"], reopened["log"]) == (
        [2],
        state["score"],
        state["log"],
    )


def test_a_port_that_is_taken_is_named(start, tmp_path):
    running = start()
    done = CliRunner().invoke(app, ["studio", f"--port={running.keys.port}", "--no-browser"])
    assert done.exit_code != 0
    assert f"--port {running.keys.port} is taken" in str(done.exception)
    done = CliRunner().invoke(app, ["studio", str(tmp_path / "nope.csv"), "--no-browser"])
    assert "does not exist" in str(done.exception)
