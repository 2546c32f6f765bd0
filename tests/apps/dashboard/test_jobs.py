"""What staff see of jobs, and what they may do with them."""

import pytest
from django.urls import reverse

from apps.jobs import actions
from apps.jobs.actions import working
from apps.jobs.models import Attempt, Job
from tests.apps.dashboard.test_health import numbers
from tests.apps.jobs.counting import KIND
from tests.builders import a_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client):
    client.force_login(a_user("Ann", is_staff=True))
    return client


def test_only_staff_sees_jobs(client):
    assert client.get(reverse("jobs")).status_code == 302
    client.force_login(a_user())
    assert client.get(reverse("jobs")).status_code == 403
    assert client.post(reverse("start_job"), {"kind": "index"}).status_code == 403
    assert not Job.objects.exists()


def test_a_job_is_started_once_paused_resumed_and_cancelled(staff):
    assert "No jobs yet." in staff.get(reverse("jobs")).text
    answer = staff.post(reverse("start_job"), {"kind": "index"}, follow=True)
    job = Job.objects.get()
    assert answer.redirect_chain[-1][0] == reverse("job", args=[job.pk])
    assert "by Ann" in answer.text
    assert "already does this" in staff.post(reverse("start_job"), {"kind": "index"}, follow=True).text
    for what, state in (("pause", "paused"), ("resume", "waiting"), ("cancel", "cancelled")):
        text = staff.post(reverse("change_job", args=[job.pk, what]), {"next": reverse("jobs")}, follow=True).text
        assert f"Job {job.pk}" in text
        assert Job.objects.get().state == state
    text = staff.post(reverse("change_job", args=[job.pk, "pause"]), follow=True).text
    assert f"Job {job.pk} is cancelled." in text
    assert "hx-trigger" not in staff.get(reverse("jobs")).text  # there is nothing to wait for
    for address in (reverse("change_job", args=[job.pk, "dance"]), reverse("change_job", args=[job.pk + 1, "pause"])):
        assert staff.post(address).status_code == 404
    assert staff.post(reverse("start_job"), {"kind": "dance"}).status_code == 404


def test_progress_and_failed_splits_are_shown(staff, counting_job, client):
    def fail_at_four(number, beat):
        if number == 4:
            raise ValueError("4 is <no> number.")

    counting_job(during=fail_at_four, in_order=True)
    job, _ = actions.claiming.create(KIND, requested_by="Ann")
    working.work("a worker", job.pk, seconds=0)
    working.work_on_one("a worker", job.pk)
    actions.claiming.claim("worker seven", job.pk)
    page = staff.get(reverse("job", args=[job.pk]))
    assert "1 of 4; 3 of 12 numbers" in page.text
    assert "worker seven" in page.text
    assert "hx-trigger" in page.text
    part = staff.get(reverse("job", args=[job.pk]), headers={"HX-Request": "true"}).text
    assert part.lstrip().startswith('<div id="job"')
    assert staff.get(reverse("jobs"), headers={"HX-Request": "true"}).text.lstrip().startswith('<div id="jobs"')
    assert numbers(client)["job_done_share", f"count {job.pk}"] == 0.25
    assert numbers(client)["jobs", "running"] == 1
    for attempt in job.splits.get(number=1).attempts.all():
        actions.claiming.end_attempt(attempt.pk, Attempt.Outcome.CANCELLED)
    working.work("a worker", job.pk)
    page = staff.get(reverse("job", args=[job.pk])).text
    assert "1 split failed" in page
    assert "4 is &lt;no&gt; number." in page
    assert "Try again" in page
    assert Job.objects.get().state == Job.State.FAILED


def test_a_job_of_a_kind_that_is_gone_can_still_be_seen(staff):
    job = Job.objects.create(kind="dance", requested_by="Ann", state="failed")
    assert "dance" in staff.get(reverse("job", args=[job.pk])).text


def test_however_many_jobs_there_are_the_page_takes_as_few_queries(staff, django_assert_max_num_queries):
    for number in range(5):
        Job.objects.create(kind="index", requested_by="Ann", state="done", parameters={"number": number})
    with django_assert_max_num_queries(14):
        staff.get(reverse("jobs"))
