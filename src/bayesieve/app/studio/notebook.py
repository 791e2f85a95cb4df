"""The studio from a notebook."""

import contextlib
import webbrowser
from typing import TYPE_CHECKING

from ...checks import Foreign
from ...estimators.selector import NaiveBayesSelector
from ...session.session import Session

if TYPE_CHECKING:
    from .launch import RunningStudio

MISSING = (
    "the studio needs starlette and uvicorn, and what the command line needs: pip install "
    "'bayesieve[studio]'."
)


def studio(
    X: Foreign, y: Foreign, *, port: int = 0, open_browser: bool = True, n_jobs: int | None = None
) -> "RunningStudio":
    """Open a page on which a table is sieved by hand and eye.

    The server runs on this machine, in a thread of this process, and answers this machine's own
    browser alone.  From a notebook on another machine, use its proxy, or a tunnel to the port.

    Parameters
    ----------
    X : array-like, data frame, sparse matrix or packed table of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    port : int, default=0
        0: one that is free.
    open_browser : bool, default=True
        Otherwise open ``address`` yourself.
    n_jobs : int, optional
        Threads of the kernels.

    Returns
    -------
    running : object with ``address``, ``bench.session`` (a `Session`) and ``close()``

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bayesieve import studio
    >>> running = studio(*load_iris(return_X_y=True, as_frame=True), open_browser=False)
    >>> running.address.startswith("http://127.0.0.1:")
    True
    >>> running.bench.session.add("petal width (cm)").columns
    ['petal width (cm)']
    >>> running.close(save=False)
    """
    try:
        from .bench import Bench
        from .data import given_table
        from .launch import RunningStudio, listen
        from .server import Keys
    except ImportError as error:
        raise ImportError(MISSING) from error

    bench = Bench(n_jobs)
    table = given_table(X, y)
    bench.hold(Session(X, y, NaiveBayesSelector(preset="balanced", n_jobs=n_jobs)), table, None)
    place = listen("127.0.0.1", port)
    found = RunningStudio(bench, Keys(place.getsockname()[1]), place).start()
    bench.unsaved = False
    if open_browser:
        with contextlib.suppress(webbrowser.Error):
            webbrowser.open(found.address)
    return found
