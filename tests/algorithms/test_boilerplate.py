"""What a source repeats is learned from few postings, real sentences stay, and state is small."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.postings.algorithms import boilerplate
from apps.postings.algorithms.boilerplate import SourceBoilerplate, Strippers
from lab.evaluations.duplicates.stripping import common_keys

REPORTS = (
    ("Storm floods Lisbon", "The river left its banks on Friday night. Firemen pumped out two hundred cellars."),
    ("Bank raises rates", "Inflation stays above the target, said its governor. Mortgages become dearer in spring."),
    ("Derby ends in a draw", "A late penalty saved the visitors one point. Both trainers praised the referee."),
    ("Museum reopens after fire", "Visitors queued around the block for the restored frescoes. Tickets are sold out."),
    ("New vaccine approved", "Regulators looked at trials with forty thousand volunteers. Doses arrive in January."),
    ("Strike halts trains", "Engine drivers want a shorter week and better shifts. Commuters shared taxis instead."),
)
HACKER_NEWS = (
    "Article URL: https://example.org/{number}\n\nComments URL: https://news.example/item?id={number}\n\n"
    "Points: {number}\n\n# Comments: {number}"
)


def learned_from(postings) -> SourceBoilerplate:
    source = SourceBoilerplate()
    for number, (title, text) in enumerate(postings):
        source.observe(text, 60.0 * number, title)
    return source


@pytest.mark.parametrize(
    ("footer", "gone"),
    [
        ("Photograph: Getty Images. Sign up to our newsletter.", ("Getty", "newsletter")),
        (HACKER_NEWS, ("URL", "Points")),
        ("By {name}", ("By",)),
        ("Photograph: {name}/Reuters", ("Photograph",)),
        ("NASDAQ: ABC {number}.25 (+0.{number}%)", ("NASDAQ",)),
        ("Share this: Facebook Twitter WhatsApp", ("Facebook",)),
        ("The post {title} appeared first on Our Site.", ("appeared", "Our Site")),
        ("submitted by /u/reader{number} [link] [comments]", ("submitted", "comments")),
        ("本文由记者编辑。责任编辑：{number}号。", ("责任编辑",)),
    ],
)
def test_a_footer_is_learned_from_four_postings(footer, gone):
    names = ("Jane Doe", "Ahmed Aziz", "Maria Silva", "Peter Novak", "Li Wei", "John Smith")
    postings = [
        (title, f"{text}\n{footer.format(number=number * 7 + 3, name=names[number], title=title)}")
        for number, (title, text) in enumerate(REPORTS)
    ]
    source = learned_from(postings[:4])
    for (title, text), (_, real) in zip(postings[4:], REPORTS[4:], strict=True):
        kept = source.strip(text, title)
        assert kept.startswith(real)
        assert not any(word in kept for word in gone)


def test_a_dateline_whose_city_differs_is_learned():
    cities = ("LISBON", "NEW YORK", "PARIS", "ROME", "BERN", "OSLO")
    postings = [(title, f"{city} (AP) — {text}") for city, (title, text) in zip(cities, REPORTS, strict=True)]
    assert learned_from(postings[:5]).strip(postings[5][1], postings[5][0]) == REPORTS[5][1]


def test_sentences_of_copies_and_updates_stay():
    text = (
        "The river left its banks on Friday night. Firemen pumped out two hundred cellars. The mayor asked people to "
        "stay at home. Trains to Porto do not run. Schools remain closed on Monday."
    )
    updates = [
        ("Storm floods Lisbon", text),
        ("Storm floods Lisbon, schools closed", f"Two people are missing. {text}"),
        ("Lisbon storm: two missing as river floods streets", f"Divers look for two missing people. {text}"),
        ("Storm floods Lisbon", text),
        ("Flooded Lisbon counts the damage of the storm", f"Insurers expect millions. Two people are missing. {text}"),
    ]
    postings = [posting for pair in zip(REPORTS[1:], updates, strict=True) for posting in pair]
    source = learned_from(postings)
    assert source.strip(text, "Storm floods Lisbon") == text
    assert source.learned() == []


def test_an_article_that_comes_again_under_other_addresses_stays():
    text = "\n".join(f"{report}" for _, report in REPORTS)
    source = learned_from([("News", f"{text}\nArticle URL: https://news.example/?utm_source={n}") for n in range(8)])
    assert source.strip(text, "News") == text


def test_a_segment_that_no_longer_comes_is_forgotten():
    source = learned_from([(title, f"{text}\nSign up to our newsletter") for title, text in REPORTS])
    assert [each.sample for each in source.learned()] == ["Sign up to our newsletter"]
    for number in range(boilerplate.FORGOTTEN + 1):
        words = f"{number_word(number)} {number_word(number + 500)}"
        source.observe(words, 0.0)
    assert source.learned() == []
    text = "Sign up to our newsletter\nAnd so on."
    assert source.strip(text) == text


def number_word(number: int) -> str:
    """A word of letters, another one for each number."""
    return "".join(chr(ord("a") + int(digit)) * 3 for digit in str(number * 7_919 + 10_000))


def test_a_learned_pattern_has_a_sample_and_a_share():
    postings = [(title, f"{text}\nThe post {title} appeared first on Our Site.") for title, text in REPORTS]
    [learned] = learned_from(postings).learned()
    assert learned.sample == "The post … appeared first on Our Site."
    assert learned.share > 0.9
    assert learned.at == 60.0 * (len(REPORTS) - 1)


def test_sources_that_repeat_nothing_of_their_own_lose_what_several_others_repeat():
    several = [learned_from([(title, f"{text}\nLike Loading...") for title, text in REPORTS]) for _ in range(3)]
    common = common_keys(source.keys() for source in several)
    assert common_keys(source.keys() for source in several[:2]) == frozenset()
    strippers = Strippers({}, common)
    assert strippers.strip(1, "A first posting.\nLike Loading...") == "A first posting."


def test_a_source_without_state_keeps_its_text():
    text = "  One\n\n\n\ntwo "
    assert SourceBoilerplate().strip(text) == text


texts = st.lists(
    st.sampled_from(
        ["Read more", "By Jane Doe", "https://a.org/1", "Points: 3.", "(AP) - ", "İß。好", "\n", "\x02", "x"]
    ),
    max_size=12,
).map(" ".join) | st.text(max_size=200)


@given(st.lists(st.tuples(texts, texts), max_size=20), texts, texts)
@settings(max_examples=150, deadline=None)
def test_any_text_keeps_an_order_of_its_characters_and_state_survives(postings, title, text):
    source = learned_from(postings)
    kept = source.strip(text, title)
    rest = iter(text)
    assert all(character in rest for character in kept if not character.isspace())
    again = SourceBoilerplate.parse(source.serialize())
    assert again.strip(text, title) == kept
    assert again.learned() == [
        type(each)(each.sample, pytest.approx(each.share, abs=0.01), each.at) for each in source.learned()
    ]


def test_state_stays_within_eight_thousand_bytes():
    source = SourceBoilerplate()
    for number in range(400):
        lines = [f"{number_word(number * 50 + line)} {number_word(number + line)} line" for line in range(40)]
        lines += [
            f"Footer {number_word(line)} of the template" for line in range(number // 40 * 8, number // 40 * 8 + 12)
        ]
        source.observe("\n".join(lines), 0.0, number_word(number))
    assert len(source.serialize()) < 8_000
