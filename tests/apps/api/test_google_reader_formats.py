"""Ids of items in every form, names of streams, labels of folders, times: what is written is what is read."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.api.formats.parameters import BadRequest
from apps.postings.algorithms.times import microseconds
from extensions.dialects.google_reader.formats.forms import Fields, read_moment
from extensions.dialects.google_reader.formats.ids import PREFIX, long_form, read_item_id
from extensions.dialects.google_reader.formats.streams import BadStream, Stream, label_of, path_of, read_stream

ids = st.integers(-(2**63), 2**63 - 1)
words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
names = st.one_of(words, st.text("/ a", min_size=1))  # slashes and spaces are what labels could be confused by
moments = st.timedeltas(timedelta(days=7_305), timedelta(days=47_482)).map(
    lambda age: datetime(1970, 1, 1, tzinfo=UTC) + age
)


# --- ids --------------------------------------------------------------------------------------------------------------
@given(ids)
def test_ids_are_read_in_every_form(item_id):
    unsigned = item_id % 2**64
    forms = [
        long_form(item_id),
        f"{PREFIX}{unsigned:x}",
        f"{PREFIX}{unsigned:X}",
        f"{unsigned:016x}",
        f" {unsigned:016X}\n",
    ]
    assert {read_item_id(form) for form in forms} == {item_id}


@given(ids)
def test_decimal_ids_are_read_except_those_of_sixteen_digits(item_id):
    for form in (str(item_id), str(item_id % 2**64)):
        if len(form) != 16:
            assert read_item_id(form) == item_id


@given(st.text())
def test_invalid_ids_are_named(text):
    try:
        number = read_item_id(text)
    except BadRequest as error:
        message = str(error)
    else:
        message = text
        assert -(2**63) <= number < 2**63
    assert text.strip()[:80] in message


@pytest.mark.parametrize("text", ["", "-", "x", f"{PREFIX}", f"{PREFIX}{'f' * 17}", "1" * 21, "1.5", "٣", str(2**64)])
def test_an_id_has_sixty_four_bits_in_known_digits(text):
    with pytest.raises(BadRequest):
        read_item_id(text)


# --- streams ----------------------------------------------------------------------------------------------------------
@given(st.sampled_from(["feed", "label", "state"]), st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_stream_is_read_as_it_is_written(kind, name):
    stream = Stream(kind, name.strip().lstrip("/") or "7")
    if "http" not in name:
        assert read_stream(str(stream), []) == stream


@pytest.mark.parametrize("who", ["-", "7", "ada"])
def test_a_person_may_be_called_in_several_ways(who):
    assert read_stream(f"user/{who}/state/com.google/read", ["7", "ada"]) == Stream("state", "read")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "feed/",
        "feed",
        "user/-/label/",
        "user/-/state/read",
        "user/8/label/Mine",
        "user/eve/state/com.google/read",
        "x",
    ],
)
def test_streams_of_others_and_invalid_ones_are_refused(text):
    with pytest.raises(BadStream):
        read_stream(text, ["7", "ada"])


@pytest.mark.parametrize(
    "written", ["feed/https://a.example/b", "feed/https:/a.example/b", "/feed/https://a.example/b\n"]
)
def test_an_address_survives_a_proxy_that_makes_one_slash_of_two(written):
    assert read_stream(written, []) == Stream("feed", "https://a.example/b")


# --- labels -----------------------------------------------------------------------------------------------------------
@given(st.lists(names, min_size=1, max_size=8))
def test_no_two_folders_share_a_label(path):
    assert path_of(label_of(path)) == tuple(path)


@given(st.lists(names, min_size=1, max_size=8))
def test_names_without_lonely_slashes_are_written_as_they_are(path):
    if not any(word and not word.strip("/") for name in path for word in name.split(" ")):
        assert label_of(path) == " / ".join(path)


# --- fields -----------------------------------------------------------------------------------------------------------
def test_bodies_are_read_with_their_signs_unescaped():
    fields = Fields("i=tag:google.com,2005:reader/item/1&i=2&T=tok\n", "output=json&i=3&c=")
    assert fields.all("i") == ["tag:google.com,2005:reader/item/1", "2", "3"]
    assert (fields.one("T"), fields.one("output"), fields.one("c"), fields.one("d")) == ("tok", "json", "", "")


def test_a_request_has_a_limited_number_of_fields():
    with pytest.raises(BadRequest, match="25,000 fields"):
        Fields("&".join(["i=1"] * 25_001))


@pytest.mark.parametrize("text", ["0", "-1", "x", "1.5", "9" * 30])
def test_a_count_is_a_number_from_one_on(text):
    with pytest.raises(BadRequest, match="n="):
        Fields(f"n={text}").number("n", 20, most=100)


def test_more_than_there_may_be_is_as_much_as_there_may_be():
    assert [Fields(text).number("n", 20, most=100) for text in ("n=1000", "n=7", "n=", "")] == [100, 7, 20, 20]


# --- times ------------------------------------------------------------------------------------------------------------
@given(moments)
def test_a_time_is_read_in_every_unit(moment):
    whole = microseconds(moment)
    assert read_moment(str(whole), last=False) == read_moment(str(whole), last=True) == moment
    for unit in (1_000, 1_000_000):
        first, last = (read_moment(str(whole // unit), last=last) for last in (False, True))
        assert first <= moment <= last
        assert last - first == timedelta(microseconds=unit - 1)


@pytest.mark.parametrize("text", ["", "soon", "-5", "1.5", "1" * 20])
def test_invalid_times_are_refused(text):
    with pytest.raises(BadRequest):
        read_moment(text, last=True)
