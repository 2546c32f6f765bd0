from datetime import timedelta
import pytest
from django.utils import timezone
from apps.search.models import SavedSearch
from apps.alerts.models import Hit
from tests.browser.test_reading import sign_in
from tests.builders import *
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

def test_shots(page):
    user, now = a_user(), timezone.now()
    for name, count in (("News", 4), ("Science", 3), ("2", 1), ("10", 1)):
        folder = a_folder(user, name)
        for n in range(count):
            f = a_follow(user, a_source(title=f"{name} feed {n * 9}"), folders=(folder,))
            if n % 2 == 0: some_postings(n + 1, f.source, newest_at=now)
            a_schedule(f.source, due_at=now + timedelta(hours=2), requested_at=now - timedelta(minutes=20), reason="0.3 articles expected by then; an earlier check would cost more than it saves")
            a_retrieval(f.source, due_at=now, dispatched_at=now, fetched_at=now, stored_at=now, new=3, dated=3, delay_seconds=700, wire_bytes=1000, origin="reader")
    s = SavedSearch.objects.create(user=user, name="tidal power", query="x", secret="x", saved_at=now)
    p = f.source.postings.first()
    Hit.objects.create(saved=s, posting=p, source_id=p.source_id, published_at=now, retrieved_at=now, found_at=now)
    sign_in(page, user)
    for width in (1440, 820, 390):
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.goto(f"/river/source/{f.source_id}/")
            if width < 960: page.locator(".drawer-button").click()
            page.wait_for_timeout(400)
            page.screenshot(path=f"/tmp/shots_f/a-{width}-{theme}.png")
            page.locator(".sidebar-new summary").click()
            page.screenshot(path=f"/tmp/shots_f/b-{width}-{theme}.png")
            if width < 960: page.locator(".drawer-shade").click(position={"x": width - 20, "y": 300})
            page.locator("[data-refresh]").click()
            page.get_by_text("Next check").wait_for()
            page.screenshot(path=f"/tmp/shots_f/c-{width}-{theme}.png")
    page.goto(f"/sources/{f.source_id}/")
    page.screenshot(path=f"/tmp/shots_f/d.png", full_page=True)
