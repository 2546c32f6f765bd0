"""Random posting rates that tests of profiles and of the planner share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.algorithms.planner.lookahead import Outlook, cheapest_plans, path
from apps.retrieval.algorithms.weekly_profiles.learning import five_minute_rates

KINDS = ("smooth", "daily", "spiky", "silent hours")
_HOURS = np.arange(168)


def cumulated_of(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Postings from the start of the week to each edge, from rates (k, bins) per hour."""
    return np.pad(np.cumsum(rates * (168 / rates.shape[1]), axis=1), ((0, 0), (1, 0)))


def random_rates(random: np.random.Generator, kind: str) -> NDArray[np.float64]:
    """One source's postings per hour in each five minutes of its week, shape (2016,)."""
    minutes = np.full((24, 12), 1 / 12)
    if kind == "smooth":
        waves = [
            random.uniform(0.2, 1) * np.sin(times * _HOURS / 168 * 2 * np.pi + random.uniform(0, 6))
            for times in (7, 14, 1)
        ]
        hourly = np.sum(waves, axis=0)
        hourly += random.uniform(0.05, 0.5) - hourly.min()
    elif kind == "daily":
        hourly = np.tile(random.dirichlet(np.full(24, 0.8)), 7) * np.repeat(random.uniform(0.2, 1, 7), 24) + 1e-4
    else:
        hourly = random.gamma(0.5, size=168)
        if kind == "silent hours":
            hourly *= random.random(168) < 0.4
            hourly[random.integers(168)] += 1.0
        else:
            minutes = random.dirichlet(np.full(12, 0.3), size=24)
    hourly *= random.lognormal(3, 1) / hourly.sum()
    return np.asarray(five_minute_rates(hourly[None], minutes[None])[0])


def random_outlook(random: np.random.Generator, sources: int, **given: Any) -> Outlook:
    """What is expected of several sources of all kinds."""
    rates = np.array([random_rates(random, KINDS[i % len(KINDS)]) for i in range(sources)])
    values: dict[str, Any] = {
        "cumulated": cumulated_of(rates),
        "now": random.uniform(-200, 400, sources),
        "waiting": random.random(sources) * (random.random(sources) < 0.3),
        "factor": random.gamma(4, 0.25, sources),
        "price": random.lognormal(0, 1.5, sources),
        "least": random.choice([1 / 12, 1.0, 3.0], sources),
        "longest": random.choice([4.0, 24.0, 168.0], sources),
        "window": np.full(sources, np.inf),
    }
    return Outlook(**values | {name: np.broadcast_to(value, np.shape(values[name])) for name, value in given.items()})


def plan(expected: NDArray[np.float64], step: float, price: float, least: int = 1, window: float = np.inf) -> list[int]:
    """The nodes of one source's cheapest plan."""
    values = (np.array([value]) for value in (step, price, least, window))
    _, _, former = cheapest_plans(expected[:, None], *values)
    return path(former[:, 0].tolist())
