"""The alert rules and the dashboard use metrics that there are, and every alert fires when it should, and only then."""

import json
import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
import yaml
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from apps.database import counters
from apps.jobs.models import Job
from apps.retrieval.models import Backtest
from lab.chaos.monitoring import PROGRAM, Monitor
from portal import doctor
from tests.builders import a_posting, a_retrieval, a_schedule, a_source

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "alerts.yaml"
DASHBOARD = DEPLOY / "grafana" / "wirebeat.json"
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(not PROMTOOL, reason="Debian's package prometheus is not installed")

# Samples of one minute each while all is well, and while the alert of the name should fire.
LATE = 'wirebeat_retrieval_lateness_seconds_bucket{stage="begun",le="%s"}'
REQUESTS = 'wirebeat_http_request_seconds_count{view="river",status="%s"}'
CASES = {
    "PortalUnreachable": {'up{job="wirebeat"}': ("1x60", "0x60")},
    "NoRetrievalWorker": {"wirebeat_retrieval_workers_alive": ("1x60", "0x60")},
    "RetrievalsOverdue": {"wirebeat_retrievals_overdue": ("0x60", "3x60")},
    "RetrievalsLate": {
        LATE % "1.0": ("0+100x60", "0+90x60"),
        LATE % "10.0": ("0+100x60", "0+100x60"),
        LATE % "+Inf": ("0+100x60", "0+100x60"),
    },
    "MessageOvertookCommit": {'wirebeat_unmatched_claims_total{reason="uncommitted"}': ("0x60", "0+1x60")},
    "ManySourcesFailing": {"wirebeat_sources_failing": ("2x60", "40x60"), "wirebeat_sources_planned": ("100x60",) * 2},
    "DerivedWorkLate": {'wirebeat_changes_waiting_seconds{queue="search"}': ("10x60", "400x60")},
    "AlertsLate": {"wirebeat_alert_messages_late": ("0x60", "2x60")},
    "JobGaveUp": {'wirebeat_job_splits_given_up{job="reindex 1"}': ("0x60", "1x60")},
    "ConnectionsRunOut": {
        'wirebeat_database_connections{state="idle"}': ("10x60", "95x60"),
        "wirebeat_database_connections_most": ("100x60", "100x60"),
    },
    "ScrapeSlow": {"wirebeat_scrape_seconds": ("0.1x60", "9x60")},
    "PagesFail": {
        REQUESTS % "2xx": ("0+1000x60", "0+900x60"),
        REQUESTS % "5xx": ("0+1x60", "0+100x60"),
    },
    "PagesSlow": {
        'wirebeat_http_request_seconds_bucket{view="river",le="1.6"}': ("0+100x60", "0+90x60"),
        'wirebeat_http_request_seconds_bucket{view="river",le="3.0"}': ("0+100x60", "0+100x60"),
        'wirebeat_http_request_seconds_bucket{view="river",le="+Inf"}': ("0+100x60", "0+100x60"),
        # Those of people far away may be slow.
        'wirebeat_http_request_seconds_bucket{view="image",le="1.6"}': ("0+1x60", "0+1x60"),
        'wirebeat_http_request_seconds_bucket{view="image",le="+Inf"}': ("0+100x60", "0+100x60"),
    },
    "TasksWait": {
        'wirebeat_task_waiting_seconds_bucket{task="search.tasks.consume",le="120.0"}': ("0+100x60", "0+90x60"),
        'wirebeat_task_waiting_seconds_bucket{task="search.tasks.consume",le="+Inf"}': ("0+100x60", "0+100x60"),
    },
    "TasksFail": {
        'wirebeat_task_seconds_count{task="stories.tasks.consume",outcome="failed"}': ("1+0x60", "0+1x60"),
        'wirebeat_task_seconds_count{task="stories.tasks.consume",outcome="done"}': ("0+60x60", "0+60x60"),
    },
    "DeadLetters": {"wirebeat_dead_letters": ("0x60", "1x60")},
    "DocumentsDamaged": {"wirebeat_documents_damaged": ("0x60", "1x60")},
    "DiskFull": {"wirebeat_disk_free_bytes": ("5000000000x60", "1000000000x60")},
    "ClockWrong": {"wirebeat_clock_skew_seconds": ("0.01x60", "3600x60")},
    "BackupOld": {"wirebeat_backup_seconds_ago": ("90000x60", "190000x60")},
    "RestoreUntested": {"wirebeat_restore_test_seconds_ago": ("90000x60", "800000x60")},
}


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def expressions():
    drawn = json.loads(DASHBOARD.read_text())["panels"]
    return [rule["expr"] for rule in rules()] + [target["expr"] for panel in drawn for target in panel["targets"]]


def promtool(*arguments, **options):
    return subprocess.run(
        [PROMTOOL, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120, **options
    )


@pytest.mark.django_db
def test_every_expression_is_about_metrics_of_the_portal(client, settings, tmp_path):
    settings.VAR_DIR = tmp_path
    for name in ("latest_backup", "latest_restore_test"):
        (tmp_path / name).touch()
    families = {family.name: family for family in text_string_to_metric_families(client.get("/metrics").text)}
    known = set(families) | {f"{name}{end}" for name in families for end in ("_total", "_bucket", "_sum", "_count")}
    used = {name for each in expressions() for name in re.findall(r"\bwirebeat_\w+", each)}
    assert len(used) > 15
    assert used <= known


def test_every_alert_says_what_to_do_and_is_tried():
    assert {rule["alert"] for rule in rules()} == set(CASES)
    assert all(rule["annotations"]["summary"] for rule in rules())


def test_the_doctor_knows_every_alert_with_the_same_remedy():
    assert {rule["alert"]: rule["annotations"]["remedy"] for rule in rules()} == {
        name: alarm["remedy"] for name, alarm in doctor.ALARMS.items()
    }
    assert [name for name, alarm in doctor.ALARMS.items() if "metric" not in alarm] == ["PortalUnreachable"]
    assert doctor._address in doctor.ALONE


def samples_of(metric: str, alarm: dict, *, is_raised: bool) -> list[Sample]:
    """Samples of the metric of an alarm on this or on the other side of its limit."""
    labels = alarm.get("labels", {})
    if "longer_than" in alarm:
        fast = 90 if is_raised else 100
        bucket = Sample(f"{metric}_bucket", labels | {"le": alarm["longer_than"]}, fast)
        return [bucket, Sample(f"{metric}_count", labels, 100)]
    limit = alarm.get("above", alarm.get("below"))
    step = (1 if is_raised else -1) * (1 if "above" in alarm else -1) * max(limit, 1) / 10
    if "of" in alarm:
        return [Sample(metric, labels, 100 * (limit + step * (limit < 1) / 10)), *others_of(metric, alarm)]
    return [Sample(metric, labels, limit + step)]


def others_of(metric: str, alarm: dict) -> list[Sample]:
    """Samples with which the whole is about 100."""
    return [Sample(alarm["of"], {"other": "yes"}, 100.0)] if alarm["of"] != metric else [Sample(metric, {}, 95.0)]


@pytest.mark.parametrize("name", [name for name, alarm in doctor.ALARMS.items() if "metric" in alarm])
def test_the_doctor_finds_what_an_alert_is_about(name):
    alarm = doctor.ALARMS[name]
    for is_raised in (False, True):
        found = {each.name: each for each in doctor.alarms(samples_of(alarm["metric"], alarm, is_raised=is_raised))}
        assert found[name].advice == (alarm["remedy"] if is_raised else ""), found[name].text


@needs_promtool
@pytest.mark.django_db
def test_promtool_has_no_complaint_of_the_metrics(client):
    found = promtool("check", "metrics", input=client.get("/metrics").text)
    assert found.stdout + found.stderr == ""


@needs_promtool
def test_every_alert_fires_and_is_silent_while_all_is_well(tmp_path):
    trials = []
    for rule in rules():
        name = rule["alert"]
        for place, expected in ((0, False), (1, True)):
            series = [{"series": metric, "values": samples[place]} for metric, samples in CASES[name].items()]
            fires = f'count(ALERTS{{alertname="{name}",alertstate="firing"}})'
            samples = [{"labels": "{}", "value": 1}] if expected else []
            question = {"expr": fires, "eval_time": "59m", "exp_samples": samples}
            trials.append({"interval": "1m", "input_series": series, "promql_expr_test": [question]})
    file = tmp_path / "trials.yaml"
    file.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": trials}))
    found = promtool("test", "rules", file)
    assert found.returncode == 0, found.stdout + found.stderr


# --- a Prometheus that scrapes a portal -------------------------------------------------------------------------------
@pytest.fixture
def prometheus(live_server, tmp_path):
    """The address of a Prometheus that scrapes the portal each second and has our rules."""
    with Monitor(live_server.url.removeprefix("http://"), tmp_path / "prometheus", interval=1) as monitor:
        yield f"http://{monitor.address}"


def query(address, expression):
    """The series of a query."""
    with urlopen(f"{address}/api/v1/query?{urlencode({'query': expression})}", timeout=30) as response:
        answer = json.load(response)
    assert answer["status"] == "success"
    return answer["data"]["result"]


def series_of(address, expression):
    """The series of an expression, whether or not what it compares holds."""
    return query(address, re.sub(r" (==|>|<) (?![^(]*\) *$)", r" \1 bool ", expression))


def some_of_everything(settings, tmp_path):
    """Rows of each kind that metrics count."""
    now = timezone.now()
    settings.VAR_DIR = tmp_path
    for name in ("latest_backup", "latest_restore_test"):
        (tmp_path / name).touch()
    a_posting(published_at=now)
    source = a_source()
    a_schedule(source, due_at=now)
    a_retrieval(source, fetched_at=now, new=1, dated=1, delay_seconds=60.0, longest_delay_seconds=60.0)
    Job.objects.create(kind="index", state="running")
    for outcome in ("done", "failed"):
        counters.observe("task_seconds", ("search.tasks.consume", outcome), 0.1)
    counters.observe("task_waiting_seconds", ("search.tasks.consume",), 0.1)
    results = {"results": {"measured": {"mean": 1.0}}, "shares": {"late": 0.1}, "saved": {"push": 1}, "patterns": []}
    Backtest.objects.create(at=now, begins_at=now, ends_at=now, sources=1, retrievals=1.0, **results)


@pytest.mark.trial
@pytest.mark.skipif(not PROGRAM, reason="Debian's package prometheus is not installed")
@pytest.mark.django_db(transaction=True)
def test_every_expression_returns_a_series(prometheus, until, settings, tmp_path):
    some_of_everything(settings, tmp_path)
    missing = set(expressions())

    def is_complete():
        counters.observe("http_request_seconds", ("river", "5xx"), 0.1)
        with suppress(OSError):
            missing.difference_update([each for each in missing if series_of(prometheus, each)])
        return not missing

    until(is_complete)
    assert missing == set()
