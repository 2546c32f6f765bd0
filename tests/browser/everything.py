"""Every page of the portal, found in its addresses, with something to show on each."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone
from playwright.sync_api import BrowserContext

from apps.accounts import queries
from apps.accounts.models import User
from apps.alerts import actions as alerts
from apps.alerts.actions.plain_rules import save_plain_rule
from apps.alerts.algorithms.plain_rules import PlainRule
from apps.alerts.models import Browser, Message, Relevance, Rule
from apps.following import actions as following
from apps.following.models import Tag, Tagging
from apps.jobs.models import Job
from apps.retrieval.models import Backtest, Crawl, Page
from apps.search.actions.saved import save_search
from apps.search.models import SavedSearch
from apps.sources.models import Source
from apps.stories import actions as stories
from apps.stories.actions import consuming
from apps.stories.models import Section, Story
from apps.trending import actions as trending
from tests.builders import (
    a_folder,
    a_follow,
    a_mark,
    a_plan,
    a_posting,
    a_profile,
    a_retrieval,
    a_schedule,
    a_source,
    a_user,
    an_edition,
)

# Not pages of users.
FOR_MACHINES = {"image", "recording", "push", "offline_shell", "counts", "feed_icon", "player", "refreshed"}
FURTHER_PAGES = [  # addresses whose query shows another page
    "/search/?q=harbour+bridge+-football+lang:en,de&like={posting_id}&without=foo&order=fresh",
    "/search/?q=bridge+rome+OR+ferries&words=mine",
    f"/search/?q={'x' * 300}",
    "/search/?q=%28bridge",
    "/river/?q=%28bridge",
    "/river/?q=bridge&order=oldest&show=unread",
    "/trends/?language=en&term=ferries&period=hours",
    "/sources/test/?address=nothing",
    "/save/?title=Bridge&url=https://news.example/bridge",
]
TEXT = " ".join(
    f"The {which} bridge was {what} on {day} after the storm, officials of the harbour told our paper later."
    for which, what, day in zip(
        ["harbour", "old", "stone", "new", "wooden", "iron", "last"],
        ["closed", "inspected", "left", "searched", "opened", "watched", "painted"],
        ["Monday", "Tuesday", "Sunday", "Friday", "Monday", "Thursday", "Monday"],
        strict=True,
    )
)
MARKUP = (
    f"<h2>The bridge</h2><p>{TEXT} <a href='https://a.example/'>A link</a>, <code>code</code>, <mark>marked</mark>.</p>"
    "<blockquote><p>Said.</p></blockquote><pre>x = 1</pre><table><tr><th>One</th><td>1</td></tr></table>"
    "<ul><li>First</li></ul>"
)


def some_of_everything(user: User) -> dict[str, Any]:
    """What stands in the addresses of pages, by the names that the addresses have for it."""
    now = timezone.now()
    site = a_source(
        url="https://site.example/", title="Site", kind="site", listed=True, category="local", language="en"
    )
    folder = a_folder(user, "Papers")
    papers = [a_source(listed=True, title=f"Gazette {number}", category="local", language="en") for number in range(6)]
    for paper in papers[3:]:
        a_follow(user, paper, folders=(folder,))
    a_follow(user, site)
    for number in range(12):
        title = f"Harbour bridge closed, ferries {'abcdefghijkl'[number]} instead"
        published_at = now - timedelta(minutes=number)
        posting = a_posting(
            papers[number % 6], title=title, text=TEXT, html=MARKUP, language="en", published_at=published_at,
            text_hash=bytes([number] * 16), author="Ada", categories=["Weather"],
        )  # fmt: skip
    a_posting(papers[0], title="عُلّق الجسر فوق الميناء", text="أُغلق الجسر يوم الاثنين.", language="ar", published_at=now)
    a_posting(papers[1], title="港口大桥关闭", text="港口大桥周一因风暴关闭。", language="zh", published_at=now)
    a_mark(user, posting, read=True, starred_at=now)
    an_edition(posting, text=TEXT.replace("harbour", "river"))
    saved = _a_search_that_found_something(user, papers[0])
    source = posting.source
    _profiles_and_troubles(source, papers[0], site)
    page = Page.objects.create(
        source=site, url="https://site.example/1", key=bytes(16), found_at=now, kind=Page.Kind.NEWS, reason="Long text."
    )
    _stories_and_trends()
    section = Section.objects.create(slug="harbour", title="Harbour", query="harbour", place=1, changed_at=now)
    tag = Tag.objects.create(user=user, name="weather")
    Tagging.objects.create(posting=posting, tag=tag, tagged_at=now)
    job = Job.objects.create(kind="index", requested_by="Ann", state="failed", problem="A split was given up.")
    Job.objects.create(kind="index", requested_by="Ann", state="running")
    return {
        "posting_id": posting.pk,
        "source_id": source.pk,
        "folder_id": folder.pk,
        "tag_id": tag.pk,
        "saved_id": saved.pk,
        "rule_id": save_plain_rule(user, PlainRule("", "text", ("bridge",)), highlight=True, now=now).pk,
        "highlight_id": 1,
        "secret": saved.secret,
        "share_secret": following.marks.share(user, posting.pk, now=now).secret,
        "invitation_secret": queries.invitation_by(user),
        "slug": section.slug,
        "section_id": section.pk,
        **dict.fromkeys(("notice_id", "user_id", "token_id", "session_id", "pk", "provider_id", "address_id"), 1),
        **dict.fromkeys(("destination_id", "list_id"), 1),
        "kind": "rss",
        "message_id": Message.objects.order_by("pk")[0].pk,
        "browser_id": Browser.objects.get().pk,
        "token": saved.rule.stop_token,
        "story_id": Story.objects.order_by("-sources")[0].pk,
        "page_id": page.pk,
        "job_id": job.pk,
        "what": "pause",
        "uidb36": "1",
        "key": "of-a-mail-long-ago",
    }


def _a_search_that_found_something(user: User, source: Source) -> SavedSearch:
    saved = save_search(user, "Bridges", "bridge", order=SavedSearch.Order.NEWEST, now=timezone.now())
    alerts.matching.prepare()
    Rule.objects.create(saved=saved, mail="day", webhook_url="https://example.org/hook", stop_token="stop")
    a_posting(source, title="A bridge is built", text="A bridge is built.", language="en", published_at=timezone.now())
    alerts.matching.match(now=timezone.now())
    source.interest = 3.5
    source.save()
    saved.percolator_query.counted = 1.0
    saved.percolator_query.save()
    Relevance.objects.create(saved=saved, source=source, value=0.3)
    Message.objects.filter(saved=saved).update(state="failed", done_at=timezone.now(), error="It did not answer.")
    Browser.objects.create(
        user=user, endpoint="https://push.example/1", name="Firefox on Linux", added_at=timezone.now()
    )
    return saved


def _profiles_and_troubles(source: Source, failing: Source, site: Source) -> None:
    now = timezone.now()
    a_plan(curve=[[1.0, 2.0], [9.0, 0.5]])
    a_profile(source)
    a_schedule(source, observed_at=now)
    a_schedule(failing, consecutive_failures=4, failing_since=now)
    a_retrieval(source, outcome="failed", message="No answer.")
    a_retrieval(source, fetched_at=now, dated=1, delay_seconds=60, longest_delay_seconds=60)
    found = {"mean": 46.0, "weighted": 48.0, "p95": 120.0, "age": 70.0, "freshness": 0.8}
    Backtest.objects.create(
        at=now,
        begins_at=now,
        ends_at=now,
        sources=1,
        retrievals=4.0,
        results={"ours": found, "combined": found | {"mean": 71.0}, "measured": found | {"mean": 44.8}},
        shares={"failures": 0.03, "lateness": 0.0, "bounds": 0.1},
        saved={"received": 1_000, "conditional": 9_000, "delta": 0, "push": 0},
        patterns=[(1, [1 / 24] * 24)],
    )
    Crawl.objects.create(source=site, pages_per_day=500)


def _stories_and_trends() -> None:
    consuming._memory = None
    while stories.consuming.consume():
        pass
    while trending.count():
        pass
    while trending.slice_stale():
        pass
    trending.refresh(("hour", "day"), timezone.now())


def an_admin() -> User:
    return a_user("grace", email="grace.with.a.long.name@mail.example", is_staff=True, is_superuser=True)


def sign_in(context: BrowserContext, client: Client, user: User, address: str) -> None:
    """Quicker than through the form."""
    client.force_login(user)
    context.add_cookies([{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": address}])


def _patterns(
    resolver: URLResolver, namespace: str = "", around: Sequence[str] = ()
) -> Iterator[tuple[str, Sequence[str]]]:
    """Names of addresses, and what stands in each; the pages of Django's own administration are not ours."""
    for entry in resolver.url_patterns:
        places = (*around, *entry.pattern.regex.groupindex)
        if isinstance(entry, URLPattern):
            is_for_machines = entry.name in FOR_MACHINES or entry.callback.__module__.startswith(
                ("apps.api.", "extensions.", "apps.published_feeds.views.feeds", "ninja.")
            )
            if entry.name and not is_for_machines:
                yield namespace + entry.name, places
        elif entry.namespace != "admin":
            yield from _patterns(entry, f"{namespace}{entry.namespace}:" if entry.namespace else namespace, places)


def pages(client: Client, values: Mapping[str, Any], *, share: int = 1) -> dict[str, str]:
    """The addresses that answer this client with a whole page; what leads elsewhere or is sent by forms is left out.

    With a share, every so-maniest address is tried. A place in an address for which `some_of_everything` has no value
    fails the test.
    """
    found, known = {}, list(_patterns(get_resolver()))
    for name, places in known:
        unknown = [place for place in places if place not in values]
        assert not unknown, f"some_of_everything has nothing for {unknown} in the address of the page {name!r}"
    for name, places in known[::share]:
        address = reverse(name, kwargs={place: values[place] for place in places})
        answer = client.get(address)
        if answer.status_code == 404 and name.startswith(("mfa_", "openid_connect_")):
            continue  # it is for people with a second factor, and for portals with a provider
        assert answer.status_code not in (404, 500), f"{name!r}: {address} answers {answer.status_code}"
        found |= _page(address, answer)
    for template in FURTHER_PAGES[::share]:
        address = template.format(**values)
        found |= _page(address, client.get(address))
    return found


def _page(address: str, answer: Any) -> dict[str, str]:
    """Its text by its address, if it is one."""
    is_markup = answer.headers.get("Content-Type", "").startswith("text/html")
    text = b"".join(answer).decode() if is_markup and answer.status_code in (200, 404) else ""
    return {address: text} if "<html" in text else {}
