"""Devices that the tests of the GPU run on: the host always, a GPU where there is one."""

import pytest
from hosts import COMPILER, HostDevice, HostPrograms


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
    from bayesieve import GpuEngine

    with GpuEngine().opened() as (found,):
        yield found
