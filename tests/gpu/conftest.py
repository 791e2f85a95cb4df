"""Devices that the tests of the GPU run on: the host always, a GPU where there is one."""

import warnings

import pytest
from hosts import COMPILER, HostDevice, HostPrograms, put_in_place


def _gpu():
    from bayesieve.engine.gpu.engine import check_devices, import_cupy

    try:
        check_devices(import_cupy(), [0])
    except (ImportError, RuntimeError) as error:
        return str(error)
    return None


@pytest.fixture(scope="session")
def programs(tmp_path_factory):
    if COMPILER is None:
        pytest.skip("there is no g++ on this machine")
    return HostPrograms(tmp_path_factory.mktemp("cuda"))


@pytest.fixture(params=["host", "gpu"])
def device(request):
    """The host with the same source, and a GPU."""
    if request.param == "host":
        yield HostDevice(request.getfixturevalue("programs"))
        return
    why = _gpu()
    if why is not None:
        pytest.skip(why)
    from bayesieve.engine import GpuEngine

    with GpuEngine().opened() as found:
        yield found.devices[0]


@pytest.fixture
def hosted(device, monkeypatch):
    """Fits on the GPU, or on the host in its place."""
    if isinstance(device, HostDevice):
        put_in_place(monkeypatch, device)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "engine='gpu'")
        yield device
