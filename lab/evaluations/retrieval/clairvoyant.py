"""The bound of all plans: every posting time is known beforehand."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def clairvoyant_times(times: FloatArray, price: float) -> FloatArray:
    """The retrieval times that minimise the sum of delays plus `price` times the number of retrievals.

    A retrieval is worth most at the very moment of a posting, so those are the candidates. With S the prefix sums of
    the n times, the least cost of retrieving the first b of them, the last retrieval at t_b, is

        D[b] = b t_b - S[b] + price + min over a < b of (D[a] + S[a] - a t_b),

    a minimum over lines in t_b whose slopes fall, kept as their lower hull: O(n).

    Parameters
    ----------
    times : array (n,), ascending
        Hours.
    price : float
        Posting hours per retrieval, positive.

    Returns
    -------
    array (m,), some of `times`, ascending; the last of `times` is among them, so that nothing is left waiting

    Examples
    --------
    >>> times = np.array([0.0, 1.0, 1.5, 9.0])
    >>> clairvoyant_times(times, 2.0).tolist(), clairvoyant_times(times, 0.1).tolist()
    ([1.5, 9.0], [0.0, 1.0, 1.5, 9.0])
    """
    if not times.size:
        return times
    after = [0]  # postings retrieved before: the hull's lines, each with slope -after and height at time 0
    heights = [0.0]
    came_from = [0]
    head, total = 0, 0.0
    for count, time in enumerate((times - times[0]).tolist(), start=1):
        total += time
        while (
            head + 1 < len(after) and heights[head + 1] - after[head + 1] * time <= heights[head] - after[head] * time
        ):
            head += 1
        came_from.append(after[head])
        cost = count * time - total + price + heights[head] - after[head] * time
        height = cost + total
        while len(after) >= head + 2 and (height - heights[-2]) * (after[-1] - after[-2]) <= (
            heights[-1] - heights[-2]
        ) * (count - after[-2]):
            after.pop()
            heights.pop()
        after.append(count)
        heights.append(height)
    chosen = []
    count = times.size
    while count:
        chosen.append(count - 1)
        count = came_from[count]
    return times[chosen[::-1]]
