"""Pages of stories, for visitors and readers."""

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.accounts.models import User
from apps.sources.models import Source
from apps.stories import actions
from apps.stories.actions import consuming, writing
from apps.stories.models import Authority, Member, Reaction, Redirect, Story
from apps.stories.queries.front import related_reports
from tests.apps.stories.publishing import BUDGET, STORM, publish
from tests.builders import a_follow, a_source, a_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_remembered():
    consuming._memory = None


def pull() -> None:
    while actions.consuming.consume():
        pass


def test_the_front_page_shows_stories_of_several_sources_the_bigger_first_and_says_why(client):
    storm, budget = publish(*STORM), publish(*BUDGET)
    publish("Something that only one paper ever wrote about")
    pull()
    page = client.get("/stories/")
    assert [row.lead.id for row in page.context["page"]["rows"]] == [storm[0].pk, budget[0].pk]
    text = page.content.decode()
    assert "3 articles from 3 feeds" in text
    assert "only one paper" not in text
    assert "Freshness of its latest article" in text
    row = page.context["page"]["rows"][0]
    assert f"{row.place.score:.2f}" in text
    assert [other.id for other in row.others] == [storm[1].pk]  # the copy is folded


@pytest.mark.parametrize("followed", ["en", "en-GB", "iw"])  # the last one is an older code of Hebrew
def test_stories_in_the_languages_of_followed_feeds_come_first(client, followed):
    storm, budget = publish(*STORM, language="de"), publish(*BUDGET, language=followed)
    pull()
    reader = a_user()
    a_follow(reader, budget[0].source)
    client.force_login(reader)
    assert [row.lead.id for row in client.get("/stories/").context["page"]["rows"]] == [budget[0].pk, storm[0].pk]


def test_visitors_see_stories_on_the_home_page(client):
    publish(*STORM)
    pull()
    assert "All stories" in client.get("/").content.decode()


def test_a_story_is_headed_by_the_report_closest_to_all_and_says_what_each_adds(client):
    publish(
        "Shock and mud in Lisbon as storm arrives",
        "Storm floods streets of Lisbon",
        "Streets of Lisbon flooded by storm, 12 hurt",
    )
    pull()
    page = client.get(f"/stories/{Story.objects.get(reports=3).pk}/")
    assert page.context["page"]["lead"].title == "Storm floods streets of Lisbon"
    latest = page.context["page"]["reports"][0]
    assert "12 hurt" in latest["added"]
    assert "Lisbon" not in latest["added"]
    assert "Lisbon" in page.context["page"]["names"]
    assert "First mentioned here:" in page.content.decode()


def test_a_story_is_hidden_from_readers_who_may_not_read_its_sources(client):
    storm = publish(*STORM, listed=False)
    pull()
    assert client.get("/stories/").context["page"]["rows"] == ()
    assert client.get(f"/stories/{Story.objects.get().pk}/").status_code == 404
    person = a_user()
    for posting in storm[:2]:
        a_follow(person, posting.source)
    client.force_login(person)
    page = client.get("/stories/").context["page"]
    assert [(row.sources, row.reports) for row in page["rows"]] == [(2, 2)]
    shown = client.get(f"/stories/{page['rows'][0].id}/").context["page"]
    assert {report["row"].id for report in shown["reports"]} == {storm[0].pk, storm[1].pk}


def test_a_story_shows_all_its_reports_with_copies_folded_below_their_originals(client):
    storm = publish(*STORM)
    pull()
    page = client.get(f"/stories/{Story.objects.get().pk}/").context["page"]
    assert [(report["row"].id, [copy.id for copy in report["copies"]]) for report in page["reports"]] == [
        (storm[1].pk, []),
        (storm[0].pk, [storm[2].pk]),
    ]
    assert [source["reports"] for source in page["sources"]] == [1, 1, 1]
    assert "<svg" in page["picture"]


def test_a_story_that_became_a_part_of_another_one_leads_to_it(client):
    publish(*STORM)
    pull()
    story = Story.objects.get()
    Redirect.objects.create(former_id=77, story_id=story.pk)
    assert client.get("/stories/77/").headers["Location"] == f"/stories/{story.pk}/"
    assert client.get("/stories/78/").status_code == 404


def test_a_posting_and_its_row_lead_to_its_story(client):
    storm, [alone] = publish(*STORM), publish("Something that only one paper ever wrote about")
    pull()
    link = f"/stories/{Member.objects.get(pk=storm[1].pk).story_id}/"
    assert link in client.get(f"/posting/{storm[1].pk}/").content.decode()
    assert link in client.get(f"/river/source/{storm[1].source_id}/").content.decode()
    assert "/stories/" not in client.get(f"/posting/{alone.pk}/").content.decode().split("<main")[1]


def test_a_posting_leads_to_its_story_only_if_another_of_its_postings_may_be_read():
    storm, [alone] = publish(*STORM, listed=False), publish("Something that only one paper ever wrote about")
    pull()
    story = Member.objects.get(pk=storm[0].pk).story_id
    one, two, staff = a_user(), a_user(), a_user(is_staff=True)
    a_follow(one, storm[0].source)
    for posting in storm[:2]:
        a_follow(two, posting.source)
    visitor = AnonymousUser()
    for person, found in ((visitor, None), (one, None), (two, story), (staff, None)):
        assert story_of(person, storm[0]) == found
        assert story_of(person, alone) is None
    Source.objects.filter(pk=storm[2].source_id).update(listed=True)
    for person in (visitor, one, two, staff):
        assert story_of(person, storm[0]) == story
    assert story_of(visitor, storm[2]) is None
    assert [report.posting_id for report in related_reports(visitor, storm[0].pk, 3)] == [storm[2].pk]
    Story.objects.update(sources=1)
    assert story_of(staff, storm[0]) is None


def test_an_article_names_only_similar_ones_of_its_story_also_after_this_has_ended(monkeypatch):
    monkeypatch.setattr(writing, "RELATED_TERMS", 4)
    storm, [other] = publish(*STORM), publish("Something that only one paper ever wrote about")
    pull()
    Member.objects.filter(pk=other.pk).update(story_id=Member.objects.get(pk=storm[0].pk).story_id)
    near = [storm[1].pk, storm[2].pk]  # copies last
    assert [report.posting_id for report in related_reports(AnonymousUser(), storm[0].pk, 3)] == near
    assert [report.posting_id for report in related_reports(AnonymousUser(), storm[2].pk, 3)] == [near[0], storm[0].pk]
    assert not related_reports(AnonymousUser(), other.pk, 3)
    publish("Parliament rejects the budget of the finance minister", hours_ago=-8 * 24)
    pull()
    assert [len(row.terms) for row in Member.objects.filter(pk__in=[storm[0].pk, storm[1].pk])] == [16, 16]
    assert [report.posting_id for report in related_reports(AnonymousUser(), storm[0].pk, 3)] == near


def story_of(person, posting) -> int | None:
    """The story that the page of the posting leads to."""
    return next((report.story_id for report in related_reports(person, posting.pk, 3)), None)


@pytest.mark.parametrize("page", ["/", "/stories/", "/stories/1/", "/for-you/"])
def test_the_number_of_queries_does_not_grow_with_the_rows_shown(client, page):
    person = a_user()
    if page != "/":
        client.force_login(person)
    counts = []
    for number in range(2):
        for posting in publish(
            *STORM[:2], *BUDGET, *(f"{title} {'ab'[number] * 5} again" for title in (*STORM, *BUDGET))
        ):
            a_follow(person, posting.source)
        pull()
        client.get(page)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(page).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1] < 30


# --- readers ----------------------------------------------------------------------------------------------------------
@pytest.fixture
def person(client) -> User:
    person = a_user()
    client.force_login(person)
    return person


def test_opening_a_posting_is_learnt_from_and_shows_in_the_persons_own_order(client, person):
    storm, budget = publish(*STORM), publish(*BUDGET)
    for posting in (*storm, *budget):
        a_follow(person, posting.source)
    pull()
    for posting in storm[:2]:
        assert client.get(f"/posting/{posting.pk}/").status_code == 200
    actions.learning.learn(now=timezone.now())
    page = client.get("/for-you/").context["page"]
    assert page["learnt"]
    assert page["rows"][0]["posting"].id == storm[2].pk
    assert page["rows"][0]["place"].taste > 0
    assert page["rows"][0]["words"]
    assert "You like to read about" in client.get("/for-you/").content.decode()


def test_a_hidden_posting_is_read_and_gone_from_stories_and_from_the_own_order(client, person):
    storm = publish(*STORM)
    for posting in storm:
        a_follow(person, posting.source)
    pull()
    assert client.post(f"/posting/{storm[0].pk}/hide/", {"next": "/for-you/"}).headers["Location"] == "/for-you/"
    assert storm[0].pk not in [row["posting"].id for row in client.get("/for-you/").context["page"]["rows"]]
    assert client.get("/stories/").context["page"]["rows"] == ()
    assert client.post(f"/posting/{storm[1].pk}/hide/", headers={"HX-Request": "true"}).content == b""


def test_learning_can_be_switched_off_and_forgotten(client, person):
    storm = publish(*STORM)
    a_follow(person, storm[0].source)
    client.post("/for-you/learning/", {"learning": "off"})
    client.get(f"/posting/{storm[0].pk}/")
    assert not Reaction.objects.exists()
    assert "Personalisation is paused" in client.get("/for-you/").content.decode()
    resumed = client.post("/for-you/learning/", {"learning": "on"}, follow=True).content.decode()
    assert "Personalisation is on." in resumed
    assert "Personalisation is paused" not in resumed
    assert client.post("/for-you/learning/", {"learning": "forget"}).status_code == 302
    assert client.post("/for-you/learning/", {"learning": "perhaps"}).status_code == 400


def test_unreadable_postings_cannot_be_hidden(client, person):
    [posting] = publish("Something", listed=False)
    assert client.post(f"/posting/{posting.pk}/hide/").status_code == 404


def test_staff_see_the_authority_of_a_source_beside_its_weight(client):
    client.force_login(a_user(is_staff=True))
    source = a_source()
    assert "calculated every night" in client.get(f"/sources/{source.pk}/").content.decode()
    Authority.objects.create(
        source=source,
        value=0.73,
        importance=0.9,
        earliness=0.5,
        originality=0.5,
        independence=1,
        stars=0.4,
        reports=9,
        computed_at=timezone.now(),
    )
    assert "0.73" in client.get(f"/sources/{source.pk}/").content.decode()
