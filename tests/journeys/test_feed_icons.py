"""The whole path of an icon: from a site's bytes to lists, the sidebar and other programs."""

from base64 import b64encode
from hashlib import md5

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.actions import make_token
from apps.retrieval.actions import adopt_sources
from apps.retrieval.tasks import find_icons
from apps.retrieval.worker import engine
from apps.sources.actions.editing import add_source
from apps.sources.models import Icon, Source
from tests.apps.retrieval.retrieving import retrieve_now
from tests.apps.retrieval.test_icons import a_picture
from tests.builders import a_follow, a_user
from tests.web import HTML, RSS, serving_pages

FEED = """<rss version='2.0'><channel><title>The Daily</title><link>{site}</link>
<item><guid>1</guid><title>Bridge stays open</title></item></channel></rss>"""


@pytest.fixture
def worker(settings):
    settings.RETRIEVAL_HOST_GAP = 0
    yield engine.current()
    engine.stop()


@pytest.fixture
def reader(worker):
    """Follows a feed whose site has an icon."""
    reader = a_user("ada")
    with serving_pages({"/": (HTML, b"<head><link rel=icon href=/icon.png>"), "/icon.png": ("", a_picture())}) as web:
        web.pages["/feed"] = (RSS, FEED.format(site=web.url("/")).encode())
        source = Source.objects.get(pk=add_source(Source(url=web.url("/feed"))))
        a_follow(reader, source, unread_from=source.added_at)
        adopt_sources(now=timezone.now())
        retrieve_now(worker, source.pk)
        find_icons("retrieval")
    return reader


@pytest.mark.django_db(transaction=True)
def test_an_icon_reaches_lists_sidebar_and_dialects(client, reader, settings):
    icon = Icon.objects.get()
    address, data = f"/icon/{icon.digest}.png", f"image/png;base64,{b64encode(icon.png).decode()}"
    assert client.get(address).content == bytes(icon.png)
    client.force_login(reader)
    html = client.get("/river/").content.decode()
    sidebar, _, rows = html.partition("<main")
    assert f'<img class="feed-icon" src="{address}"' in sidebar
    assert f'<img class="feed-icon" src="{address}"' in rows

    [source_id] = Source.objects.values_list("pk", flat=True)
    secret = make_token(reader, "program", ["read"], now=timezone.now(), for_fever=True)[1]
    token = {"authorization": f"Bearer {secret}"}
    [subscription] = client.get(
        "/reader/api/0/subscription/list", headers={"authorization": f"GoogleLogin auth=ada/{secret}"}
    ).json()["subscriptions"]
    assert subscription["iconUrl"] == settings.PROJECT_URL.rstrip("/") + address
    assert client.get(f"/api/v1/sources/{source_id}", headers=token).json()["icon_url"] == subscription["iconUrl"]

    key = md5(f"ada:{secret}".encode()).hexdigest()
    fever = Client().post("/fever/?api&feeds&favicons", {"api_key": key}).json()
    assert fever["favicons"] == [{"id": fever["feeds"][0]["favicon_id"], "data": data}]

    [feed] = client.get("/v1/feeds", headers=token).json()
    assert feed["icon"]["feed_id"] == source_id
    for path in (f"/v1/feeds/{source_id}/icon", f"/v1/icons/{feed['icon']['icon_id']}"):
        assert client.get(path, headers=token).json()["data"] == data
