"""Greedy rankings by what a column, a column already taken and the class say together."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .greedy import Counts, LazyRanking, SummedRanking
from .kernels.kinds import CONDITIONAL, JOINT, JOINT_SHARE, REPEATED


@dataclass(frozen=True)
class CMIM(LazyRanking):
    """Rank by conditional mutual information, maximised (Fleuret 2004).

    The next column is the one whose smallest value among I(class; column) and I(class; column |
    taken), over all columns taken, is the largest; evaluated lazily, as in Fleuret's own code.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import CMIM
    >>> y = np.array([0, 0, 1, 1] * 5)
    >>> X = np.column_stack([np.arange(20) % 2, y, y])
    >>> rank(X, y, CMIM()).order
    array([1, 0, 2])
    """

    kind: ClassVar[int] = CONDITIONAL


@dataclass(frozen=True)
class ICAP(LazyRanking):
    """Rank by interaction capping (Jakulin 2005).

    A column is worth I(column; class), less what it repeats of each column taken: I(column; taken)
    - I(column; taken | class), where that is positive.  A column that tells more beside another
    than alone gains nothing by it.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import ICAP
    >>> y = np.array([0, 0, 1, 1] * 5)
    >>> X = np.column_stack([np.arange(20) % 2, y, y])
    >>> rank(X, y, ICAP()).order
    array([1, 0, 2])
    """

    kind: ClassVar[int] = REPEATED


@dataclass(frozen=True)
class JMIM(LazyRanking):
    """Rank by joint mutual information, maximised (Bennasar, Hicks and Setchi 2015).

    After the column that tells most alone, the next is the one whose smallest I(column, taken;
    class), over all columns taken, is the largest.

    Examples
    --------
    The second column repeats the first; together with the first, the last one tells all:

    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import JMIM
    >>> y = np.array([0, 1, 2, 3] * 5)
    >>> X = np.column_stack([y // 2, y // 2, y % 2])
    >>> rank(X, y, JMIM()).order
    array([0, 2, 1])
    """

    kind: ClassVar[int] = JOINT
    starts_anew: ClassVar[bool] = True

    @property
    def sorts_by_score(self) -> bool:
        """A pair of columns tells more than the first did alone."""
        return False


@dataclass(frozen=True)
class NJMIM(LazyRanking):
    """Rank by normalised joint mutual information, maximised (Bennasar, Hicks and Setchi 2015).

    As JMIM, with I(column, taken; class) / H(column, taken, class) in place of the information:
    columns of many levels, whose information is overestimated, are worth less.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import NJMIM
    >>> y = np.array([0, 1, 2, 3] * 5)
    >>> X = np.column_stack([y // 2, y // 2, y % 2])
    >>> rank(X, y, NJMIM()).order
    array([0, 2, 1])
    """

    kind: ClassVar[int] = JOINT_SHARE
    starts_anew: ClassVar[bool] = True

    @property
    def sorts_by_score(self) -> bool:
        """The first column's score is in nat, the others' are shares."""
        return False


@dataclass(frozen=True)
class JMI(SummedRanking):
    """Rank by joint mutual information (Yang and Moody 1999).

    After the column that tells most alone, the next is the one whose I(column, taken; class),
    summed over all columns taken, is the largest.

    Examples
    --------
    The second column repeats the first; together with the first, the last one tells all:

    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import JMI
    >>> y = np.array([0, 1, 2, 3] * 5)
    >>> X = np.column_stack([y // 2, y // 2, y % 2])
    >>> rank(X, y, JMI()).order
    array([0, 2, 1])
    """

    kind: ClassVar[int] = JOINT

    @property
    def sorts_by_score(self) -> bool:
        """Sums grow with the number of columns taken."""
        return False

    def terms(self, counts: Counts, taken: int, left: NDArray[np.bool_]) -> NDArray[np.float64]:
        """What each column left says together with the one just taken."""
        return counts.triples(self.kind, taken, left)


@dataclass(frozen=True)
class DISR(JMI):
    """Rank by double input symmetrical relevance (Meyer and Bontempi 2006).

    As JMI, with I(column, taken; class) / H(column, taken, class) in place of the information:
    columns of many levels, whose information is overestimated, are worth less.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import rank
    >>> from bayesieve.rankings import DISR
    >>> y = np.array([0, 1, 2, 3] * 5)
    >>> X = np.column_stack([y // 2, y // 2, y % 2])
    >>> rank(X, y, DISR()).order
    array([0, 2, 1])
    """

    kind: ClassVar[int] = JOINT_SHARE
