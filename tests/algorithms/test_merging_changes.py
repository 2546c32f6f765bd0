"""Changes that are heard of late and out of order, beside a twin that replays all that ever happened."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from apps.following.algorithms.merging import ON_ITS_WAY, Change, by_our_clock, merged

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
PLACES = [(1, "starred"), (2, "starred"), (1, "read")]
times = st.integers(0, 12).map(lambda minute: NOON + timedelta(minutes=minute))
known_times = st.dictionaries(st.sampled_from(PLACES), times)
changes = st.builds(Change, st.sampled_from(PLACES), st.booleans(), times)


def replayed(changed_at, new):
    """Everything in the order of its time, what was known first of what happened at once; the last one stands."""
    events = [(at, 0, place, None) for place, at in changed_at.items()]
    events += [(change.made_at, 1, change.place, change) for change in new]
    standing = {}
    for _at, _rank, place, change in sorted(events, key=lambda event: event[:2]):
        is_tie = place in changed_at and change is not None and change.made_at == changed_at[place]
        if not is_tie:
            standing[place] = change
    return {place: change for place, change in standing.items() if change is not None}


@given(known_times, st.lists(changes, max_size=12))
def test_what_was_done_last_stands(changed_at, new):
    assert merged(changed_at, new).values == replayed(changed_at, new)


@given(known_times, st.lists(changes, max_size=12))
def test_a_change_stands_unless_something_as_new_was_known(changed_at, new):
    stood = merged(changed_at, new).stood
    for change, stands in zip(new, stood, strict=True):
        assert stands == (change.place not in changed_at or change.made_at > changed_at[change.place])


@given(
    known_times,
    st.lists(changes, max_size=8, unique_by=lambda change: change.made_at),
    st.randoms(use_true_random=False),
    st.integers(0, 8),
)
def test_devices_may_send_in_any_order_and_in_any_portions(changed_at, new, random, cut):
    random.shuffle(shuffled := list(new))
    values, known = {}, dict(changed_at)
    for portion in (shuffled[:cut], shuffled[cut:], shuffled[:cut]):  # the first one is sent once more
        done = merged(known, portion)
        values |= done.values
        known |= {place: change.made_at for place, change in done.values.items()}
    assert values == merged(changed_at, new).values


@given(
    st.timedeltas(timedelta(days=-3650), timedelta(days=3650)),
    st.timedeltas(timedelta(0), timedelta(days=30)),
)
def test_a_clock_that_goes_wrong_by_years_does_no_harm(error, before):
    sent_at = NOON + error
    assert abs(by_our_clock(sent_at - before, sent_at=sent_at, now=NOON) - (NOON - before)) <= ON_ITS_WAY


@given(st.timedeltas(timedelta(0), ON_ITS_WAY), st.timedeltas(timedelta(0), timedelta(days=30)))
def test_how_long_a_message_takes_does_not_change_when_a_thing_was_done(delay, before):
    sent_at = NOON - delay
    assert by_our_clock(sent_at - before, sent_at=sent_at, now=NOON) == sent_at - before


@given(st.timedeltas(timedelta(0), timedelta(days=3650)))
def test_nothing_was_done_in_the_future(ahead):
    assert by_our_clock(NOON + ahead, sent_at=NOON, now=NOON) == NOON
