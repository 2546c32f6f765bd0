"""The urgency of waiting fetches, by which CAM (section 5) orders them; `lab.papers.scheduling` has its schedule."""

AGEING = 60.0  # s of lateness after which a job counts for twice as much


def urgency(worth: float, lateness: float, ageing: float = AGEING) -> float:
    """The urgency of a job by its worth per second of its duration and its lateness in seconds.

    >>> urgency(2.0, 0.0), urgency(1.0, 90.0)
    (2.0, 2.5)
    """
    return worth * (1 + lateness / ageing)
