"""Jobs at the command line."""

import pytest
from django.core.management import CommandError, call_command

from apps.jobs import actions
from apps.jobs.models import Job
from tests.apps.jobs.counting import KIND, counted

pytestmark = pytest.mark.django_db


@pytest.fixture
def output_of(capsys):
    def say(*arguments: str) -> str:
        call_command("job", *arguments)
        return capsys.readouterr().out

    return say


def test_job_is_started_processed_and_shown(counting_job, output_of):
    counting_job()
    assert "is requested" in output_of("start", KIND, "records=6")
    job = Job.objects.get()
    assert output_of("start", KIND, "records=6") == f"Job {job.pk} exists already, unfinished.\n"
    assert f"Job {job.pk}: done." in output_of("work", str(job.pk))
    assert counted() == list(range(6))
    shown = output_of("show", str(job.pk))
    assert "requested by manage.py" in shown
    assert "sum: 15" in shown
    assert "count records=6" in output_of("list")


def test_work_without_a_number_processes_all_jobs(counting_job, output_of):
    counting_job()
    actions.claiming.create(KIND, requested_by="a test")
    actions.claiming.create(KIND, {"records": 2}, requested_by="a test")
    output_of("work")
    assert set(Job.objects.values_list("state", flat=True)) == {Job.State.DONE}


def test_job_is_paused_resumed_cancelled_and_retried(counting_job, output_of):
    def fail(number, beat):
        raise ValueError("No.")

    counting_job(during=fail)
    job, _ = actions.claiming.create(KIND, requested_by="a test")
    number = str(job.pk)
    assert output_of("pause", number) == f"Job {number} is paused.\n"
    assert output_of("resume", number) == f"Job {number} goes on.\n"
    assert f"Job {number}: failed." in output_of("work", number)
    assert "failed: ValueError: No." in output_of("show", number)
    assert output_of("retry", number) == f"Job {number} is tried again.\n"
    assert output_of("cancel", number) == f"Job {number} is cancelled.\n"
    with pytest.raises(CommandError, match="is cancelled; this change is not possible in that state"):
        call_command("job", "pause", number)


def test_recorded_durations_feed_benchmark_split(counting_job, output_of, tmp_path, capsys):
    counting_job(records=30)
    actions.claiming.create(KIND, requested_by="a test")
    output_of("work")
    times = tmp_path / "times.jsonl"
    times.write_text(output_of("times"))
    assert len(times.read_text().splitlines()) == 11  # ten splits, and the end
    call_command("benchmark_split", times=times, splits=2)
    assert "longest first" in capsys.readouterr().out


def test_invalid_arguments_are_reported(counting_job):
    counting_job()
    for arguments, complaint in (
        (("show", "12345"), "There is no job 12345"),
        (("start", KIND, "records=many"), "records needs a whole number"),
        (("start", KIND, "colour=3"), "have no 'colour', only records"),
        (("start", "dance"), "invalid choice: 'dance'"),
    ):
        with pytest.raises(CommandError, match=complaint):
            call_command("job", *arguments)
