"""Jobs at the command line."""

import pytest
from django.core.management import CommandError, call_command

from apps.jobs import actions
from apps.jobs.models import Job
from tests.apps.jobs.counting import KIND, counted

pytestmark = pytest.mark.django_db


@pytest.fixture
def said(capsys):
    def say(*arguments: str) -> str:
        call_command("job", *arguments)
        return capsys.readouterr().out

    return say


def test_a_job_is_started_worked_on_and_shown(counting_job, said):
    counting_job()
    assert "is asked for" in said("start", KIND, "records=6")
    job = Job.objects.get()
    assert said("start", KIND, "records=6") == f"Job {job.pk} is that already, unfinished.\n"
    assert f"Job {job.pk}: done." in said("work", str(job.pk))
    assert counted() == list(range(6))
    shown = said("show", str(job.pk))
    assert "asked for by manage.py" in shown
    assert "sum: 15" in shown
    assert "count records=6" in said("list")


def test_without_a_number_all_jobs_are_worked_on(counting_job, said):
    counting_job()
    actions.create(KIND, asked_by="a test")
    actions.create(KIND, {"records": 2}, asked_by="a test")
    said("work")
    assert set(Job.objects.values_list("state", flat=True)) == {Job.State.DONE}


def test_it_is_paused_resumed_cancelled_and_tried_again(counting_job, said):
    def fail(number, beat):
        raise ValueError("No.")

    counting_job(during=fail)
    job, _ = actions.create(KIND, asked_by="a test")
    number = str(job.pk)
    assert said("pause", number) == f"Job {number} is paused.\n"
    assert said("resume", number) == f"Job {number} goes on.\n"
    assert f"Job {number}: failed." in said("work", number)
    assert "failed: ValueError: No." in said("show", number)
    assert said("retry", number) == f"Job {number} is tried again.\n"
    assert said("cancel", number) == f"Job {number} is cancelled.\n"
    with pytest.raises(CommandError, match="is cancelled; it cannot be changed so"):
        call_command("job", "pause", number)


def test_what_splits_took_can_be_split_otherwise(counting_job, said, tmp_path, capsys):
    counting_job(records=30)
    actions.create(KIND, asked_by="a test")
    said("work")
    times = tmp_path / "times.jsonl"
    times.write_text(said("times"))
    assert len(times.read_text().splitlines()) == 11  # ten splits, and the end
    call_command("benchmark_split", times=times, splits=2)
    assert "longest first" in capsys.readouterr().out


def test_mistakes_are_told(counting_job):
    counting_job()
    for arguments, complaint in (
        (("show", "12345"), "There is no job 12345"),
        (("start", KIND, "records=many"), "records needs a whole number"),
        (("start", KIND, "colour=3"), "have no 'colour', only records"),
        (("start", "dance"), "invalid choice: 'dance'"),
    ):
        with pytest.raises(CommandError, match=complaint):
            call_command("job", *arguments)
