"""Staff start a job, see its progress, and stop it."""

import pytest
from playwright.sync_api import Page, expect

from apps.jobs.actions import working
from apps.jobs.models import Job
from tests.builders import a_posting, a_user

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize(
    ("page", "has_scripts"), [("with scripts", True), ("without scripts", False)], indirect=["page"]
)
def test_a_job_is_started_watched_and_stopped(page: Page, has_scripts, client, live_server):
    client.force_login(a_user(is_staff=True))
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )
    a_posting()
    page.goto("/jobs/")
    page.get_by_role("button", name="Rebuild search index").click()
    expect(page.get_by_text("Waiting", exact=True)).to_be_visible()
    job = Job.objects.get()
    working.work("a worker", job.pk)
    if not has_scripts:
        page.reload()
    expect(page.get_by_text("Done", exact=True)).to_be_visible()
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "100")
    page.get_by_role("link", name="All jobs").click()
    page.get_by_role("button", name="Rebuild search index").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text(f"Job {job.pk + 1} paused")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text(f"Job {job.pk + 1} cancelled")).to_be_visible()
    assert Job.objects.get(pk=job.pk + 1).state == Job.State.CANCELLED
