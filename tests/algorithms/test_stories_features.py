"""What of a posting counts when it is grouped."""

from apps.stories.algorithms.features import features


def test_addresses_in_texts_are_no_terms_of_a_story():
    plain = features("Episode 3: ferries", "Show notes of the episode are on the site, and by mail.", "en")
    linked = features(
        "Episode 3: ferries",
        "Show notes of the episode are on the site https://example.org/notes?x=1, and by mail.",
        "en",
    )
    assert linked.terms.tolist() == plain.terms.tolist()
