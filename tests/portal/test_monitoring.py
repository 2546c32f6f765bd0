"""The alert rules and the dashboard use metrics that there are, and every alert fires when it should, and only then."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "alerts.yaml"
DASHBOARD = DEPLOY / "grafana" / "wirebeat.json"
PROMTOOL = shutil.which("promtool")
needs_promtool = pytest.mark.skipif(not PROMTOOL, reason="Debian's package prometheus is not installed")

# Samples of one minute each while all is well, and while the alert of the name should fire.
LATE = 'wirebeat_retrieval_lateness_seconds_bucket{stage="begun",le="%s"}'
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
def test_every_expression_is_about_metrics_of_the_portal(client):
    families = {family.name: family for family in text_string_to_metric_families(client.get("/metrics").text)}
    known = set(families) | {f"{name}{end}" for name in families for end in ("_total", "_bucket", "_sum", "_count")}
    used = {name for each in expressions() for name in re.findall(r"\bwirebeat_\w+", each)}
    assert len(used) > 15
    assert used <= known


def test_every_alert_says_what_to_do_and_is_tried():
    assert {rule["alert"] for rule in rules()} == set(CASES)
    assert all(rule["annotations"]["summary"] and rule["annotations"]["remedy"] for rule in rules())


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
