"""A studio that runs on this machine, for tests."""

import contextlib
import socket

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from bayesieve.app.studio.bench import Bench
from bayesieve.app.studio.launch import RunningStudio, listen
from bayesieve.app.studio.server import Keys


@pytest.fixture
def start():
    """Start studios; all of them end with the test."""
    with contextlib.ExitStack() as stack:

        def begin(**options):
            place = listen("127.0.0.1", options.pop("port", 0))
            # Else each answer waits 40 ms for the client's word that it has the one before.
            place.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            keys = Keys(place.getsockname()[1], **options.pop("keys", {}))
            most = options.pop("most_bytes", None)
            running = RunningStudio(Bench(1), keys, place, **options)
            if most is not None:
                running.studio.most_bytes = most
            running.start()
            stack.callback(running.close, save=False)
            return running

        yield begin
