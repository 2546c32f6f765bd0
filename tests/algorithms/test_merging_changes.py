"""Late and unordered changes, compared with a replay of all events."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from apps.following.algorithms.merging import MAX_TRANSIT, Write, by_our_clock, merged

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
REGISTERS = [(1, "starred"), (2, "starred"), (1, "read")]
times = st.integers(0, 12).map(lambda minute: NOON + timedelta(minutes=minute))
known_times = st.dictionaries(st.sampled_from(REGISTERS), times)
changes = st.builds(Write, st.sampled_from(REGISTERS), st.booleans(), times)


def replayed(changed_at, new):
    """All events in the order of time, known ones first at equal times; the last one wins."""
    events = [(at, 0, register, None) for register, at in changed_at.items()]
    events += [(change.made_at, 1, change.register, change) for change in new]
    latest = {}
    for _at, _rank, register, change in sorted(events, key=lambda event: event[:2]):
        is_tie = register in changed_at and change is not None and change.made_at == changed_at[register]
        if not is_tie:
            latest[register] = change
    return {register: change for register, change in latest.items() if change is not None}


@given(known_times, st.lists(changes, max_size=12))
def test_the_last_write_wins(changed_at, new):
    assert merged(changed_at, new).values == replayed(changed_at, new)


@given(known_times, st.lists(changes, max_size=12))
def test_a_write_is_applied_unless_one_as_late_was_known(changed_at, new):
    for change, is_latest in zip(new, merged(changed_at, new).is_latest, strict=True):
        assert is_latest == (change.register not in changed_at or change.made_at > changed_at[change.register])


@given(
    known_times,
    st.lists(changes, max_size=8, unique_by=lambda change: change.made_at),
    st.randoms(use_true_random=False),
    st.integers(0, 8),
)
def test_order_and_batches_do_not_matter(changed_at, new, random, cut):
    random.shuffle(shuffled := list(new))
    values, known = {}, dict(changed_at)
    for portion in (shuffled[:cut], shuffled[cut:], shuffled[:cut]):  # the first one is sent once more
        done = merged(known, portion)
        values |= done.values
        known |= {register: change.made_at for register, change in done.values.items()}
    assert values == merged(changed_at, new).values


@given(
    st.timedeltas(timedelta(days=-3650), timedelta(days=3650)),
    st.timedeltas(timedelta(0), timedelta(days=30)),
)
def test_wrong_clocks_are_corrected(error, before):
    sent_at = NOON + error
    assert abs(by_our_clock(sent_at - before, sent_at=sent_at, now=NOON) - (NOON - before)) <= MAX_TRANSIT


@given(st.timedeltas(timedelta(0), MAX_TRANSIT), st.timedeltas(timedelta(0), timedelta(days=30)))
def test_transit_time_does_not_change_the_time_of_a_change(delay, before):
    sent_at = NOON - delay
    assert by_our_clock(sent_at - before, sent_at=sent_at, now=NOON) == sent_at - before


@given(st.timedeltas(timedelta(0), timedelta(days=3650)))
def test_no_change_is_in_the_future(ahead):
    assert by_our_clock(NOON + ahead, sent_at=NOON, now=NOON) == NOON
