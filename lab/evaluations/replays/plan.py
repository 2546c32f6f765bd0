"""The expected result of the plan during a replay: the same postings, simulated at the same budget."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from apps.retrieval.algorithms.calendar import DAY, WEEK, hours_of
from apps.retrieval.algorithms.simulation.accounting import Outcome, matching, simulate_reactive
from apps.retrieval.algorithms.simulation.priced_plan import Lessons, PricedPlan, first_price
from apps.retrieval.algorithms.traces import Trace
from apps.retrieval.algorithms.weekly_profiles.learning import five_minute_rates, learn_priors, learn_profiles
from lab.evaluations.replays.verification import Witnessed
from lab.worlds.lines import RecordError


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The recorded time that is compared, in hours on the axis of `retrieval.algorithms.calendar`."""

    trace: Trace  # of all sources, their history included
    start: float
    until: float  # requests are counted until then
    counted: float  # postings published before it are; the others may still be on their way at the end


def excerpt(witnessed: Witnessed, retrieved: Collection[int], until: float, longest_gap: float) -> Excerpt:
    """The part of a record from its start to the real time `until` in which every posting had time to be retrieved.

    All sources `retrieved` count: the silent ones, too, have their part of the budget.

    Raises RecordError if less than a day of it can be counted.
    """
    begin = witnessed.start
    times: dict[int, list[float]] = defaultdict(list)
    for (source, _), posting in witnessed.published.items():
        times[source].append(begin.origin + (posting.at - begin.start) * begin.speed)
    start = float(hours_of(begin.origin))
    end = min(float(hours_of(begin.origin + (until - begin.start) * begin.speed)), float(hours_of(begin.end)))
    if end - longest_gap - start < DAY:
        raise RecordError(
            f"only {(end - start) / DAY:.1f} days were replayed; a day more than the longest gap is needed"
        )
    sources = sorted(retrieved)
    trace = Trace.of([str(source) for source in sources], [hours_of(np.array(times[source])) for source in sources])
    return Excerpt(trace, start, end, end - longest_gap)


def simulated(part: Excerpt, per_day: float, *, least_gap: float, longest_gap: float) -> Outcome:
    """Simulate the plan in an excerpt at `per_day` retrievals per source and day, from the knowledge at its start.

    The outcome has the delays of counted postings alone.
    """
    history = part.trace.window(-np.inf, part.start)
    priors = learn_priors(history, part.start, random=np.random.default_rng(0))
    profiles = learn_profiles(history, part.start, priors)
    lessons = Lessons([five_minute_rates(profiles.hourly, profiles.minutes)], part.start)
    weights = np.ones(len(part.trace))
    test = part.trace.window(part.start, part.counted)
    known = part.trace.window(part.start - 8 * WEEK, part.until)

    def outcome(price: float) -> Outcome:
        plan = PricedPlan(known, lessons, price, weights, least_gap, longest_gap)
        phases = np.random.default_rng(1).random(len(weights))
        return simulate_reactive(test, plan, part.start, part.until, least_gap=least_gap, phases=phases)

    retrievals = per_day * len(weights) * (part.until - part.start) / DAY
    first = first_price(lessons, weights, per_day)
    return matching(outcome, retrievals, first=first, exponent=-0.5, tolerance=0.005)[1]
