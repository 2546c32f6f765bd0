"""The size of an installation: the costs of one retrieval and one posting, times their numbers.

The costs were measured by the commands named beside them; the model adds them up. How much the busiest minute exceeds
the mean comes from a month played through, see `month`.
"""

from dataclasses import dataclass
from math import ceil

DAY = 86_400.0  # s
BUSY = 0.7  # of a core or a connection that may be used at the peak; the rest is a reserve
PARTITIONED_FROM = 100_000_000  # rows; smaller tables gain nothing by being cut


@dataclass(frozen=True, slots=True)
class UnitCosts:
    """Unit costs: CPU in ms of a core, space in bytes."""

    retrieval_unchanged: float = 2.0  # a 304 with its planning: benchmark_ingest, benchmark_planning
    retrieval_changed: float = 5.6  # a 200 with a few new postings: benchmark_ingest
    dispatch: float = 0.12  # beat, for each source: benchmark_dispatch
    store: float = 1.0  # a new posting: benchmark_ingest
    index: float = 0.28  # with building and merging of segments: benchmark_search
    group: float = 2.2  # among 100,000 active ones: evaluate_stories
    summarise: float = 1.6  # evaluate_summaries
    count: float = 0.9  # words for trends: verify_derived
    match: float = 8.9  # with 100,000 standing searches: benchmark_alerts
    database: float = 0.5  # share of Postgres beside one of the worker, for all of these: benchmark_ingest
    posting_bytes: float = 1_000.0  # a headline and a paragraph, with its indexes
    derived_bytes: float = 2_300.0  # its documents, postings of the index, counts, outline, place in a story
    retrieval_bytes: float = 250.0  # a line of the log
    schedule_bytes: float = 2_500.0  # a source with its schedule and profile
    answer_bytes: float = 1_500.0  # on the wire, over all retrievals, mostly 304s
    log_days: float = 30.0  # that lines of the log are kept


MEASURED = UnitCosts()


@dataclass(frozen=True, slots=True)
class Demand:
    """The load of an installation."""

    sources: float
    retrievals_per_day: float  # of one source
    postings_per_day: float  # of one source
    changed: float  # share of retrievals with changes
    peak: float = 1.6  # retrievals of the busiest minute by those of the mean one


@dataclass(frozen=True, slots=True)
class Fleet:
    """What serves the demand; cores are of the kind that the costs were measured on."""

    retrievals_per_s: float
    postings_per_s: float
    worker_cores: int  # fetch, store and plan, at the peak
    deriving_cores: int  # index, group, summarise, count, match: behind by seconds at the peak
    database_cores: int
    beats: int  # that lead a share of the partitions each
    groupers: int  # of stories, by language: one place holds all active stories of a language
    writers: int  # of the index, one at a time each
    messages_per_s: float
    network_mb_per_s: float
    database_gb_per_month: float
    database_gb_at_first: float
    postings_after_a_year: float
    partitions: int  # of the table of postings, after a year

    @property
    def machines(self) -> int:
        """Machines of 16 cores, three at least so that one may fail; beats and the broker share those of workers."""
        cores = self.worker_cores + self.deriving_cores + self.database_cores + self.beats
        return max(3, ceil(cores / 16))


def fleet(demand: Demand, costs: UnitCosts = MEASURED, *, sources_per_message: float = 1.0) -> Fleet:
    """The fleet for a demand.

    Parameters
    ----------
    sources_per_message : float
        How full messages of one partition are; the larger the installation, the fuller.

    Examples
    --------
    >>> found = fleet(Demand(sources=1e6, retrievals_per_day=4, postings_per_day=2, changed=0.3))
    >>> found.worker_cores, found.beats, found.partitions
    (1, 1, 8)
    >>> fleet(Demand(sources=1e8, retrievals_per_day=4, postings_per_day=2, changed=0.3)).beats
    2
    """
    retrievals = demand.sources * demand.retrievals_per_day / DAY
    postings = demand.sources * demand.postings_per_day / DAY
    at_peak = demand.peak / BUSY / 1_000  # cores for each ms a second
    fetching = costs.retrieval_unchanged * (1 - demand.changed) + costs.retrieval_changed * demand.changed
    working = retrievals * fetching + postings * costs.store
    deriving = postings * (costs.index + costs.group + costs.summarise + costs.count + costs.match)
    in_a_year = 365 * DAY * postings
    return Fleet(
        retrievals_per_s=retrievals,
        postings_per_s=postings,
        worker_cores=ceil(working * at_peak),
        deriving_cores=ceil(deriving * at_peak),
        database_cores=ceil((working + deriving) * costs.database * at_peak),
        beats=ceil(retrievals * costs.dispatch * at_peak),
        groupers=ceil(postings * costs.group * at_peak),
        writers=ceil(postings * costs.index * at_peak),
        messages_per_s=retrievals / sources_per_message,
        network_mb_per_s=retrievals * costs.answer_bytes / 1e6,
        database_gb_per_month=30 * DAY * postings * (costs.posting_bytes + costs.derived_bytes) / 1e9,
        database_gb_at_first=(
            demand.sources * costs.schedule_bytes + costs.log_days * DAY * retrievals * costs.retrieval_bytes
        )
        / 1e9,
        postings_after_a_year=in_a_year,
        partitions=ceil(in_a_year / PARTITIONED_FROM),
    )
