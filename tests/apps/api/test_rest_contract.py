"""The REST API follows its OpenAPI document for all requests that the document allows.

`WIREBEAT_CONTRACT_CASES=40 manage.py test tests/apps/api/test_rest_contract.py -s` sends that many
requests per operation, and prints a report.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from apps.following.models import Folder, Tag
from apps.postings.models import Posting
from apps.search.actions.reindexing import consume
from apps.search.models import SavedSearch
from apps.sources.models import Source
from tests.apps.api.programs import Program, a_person_with_everything
from tests.web import RSS, serving_pages

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(1_800)]

CASES = int(os.environ.get("WIREBEAT_CONTRACT_CASES", "4"))  # of each operation
CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "negative_data_rejection", "unsupported_method", "allow_header_conformance",
    "ignored_auth",
)  # fmt: skip
FEED = b"<rss version='2.0'><channel><title>Fern</title><item><guid>1</guid><title>A</title></item></channel></rss>"


def ids_of(mine) -> dict[str, list[int]]:
    """What schemathesis may name: enough of everything, since it deletes as well."""
    postings = list(Posting.objects.order_by("pk").values_list("pk", flat=True))
    folders = list(Folder.objects.order_by("pk").values_list("pk", flat=True))
    return {
        "source_id": list(Source.objects.order_by("pk").values_list("pk", flat=True)),
        "posting_id": postings,
        "posting_ids": postings,
        "like_ids": postings,
        "unlike_ids": postings,
        "folder_id": folders,
        "folder_ids": folders,
        "parent_id": folders,
        "tag_id": list(Tag.objects.order_by("pk").values_list("pk", flat=True)),
        "search_id": list(SavedSearch.objects.order_by("pk").values_list("pk", flat=True)),
        "story_id": [mine.story_id],
        "undo_id": [mine.undo_id],
    }


@pytest.mark.parametrize("count", [1, pytest.param(CASES, marks=pytest.mark.trial)])
def test_nothing_that_the_document_allows_breaks_the_promise(live_server, tmp_path, settings, monkeypatch, count):
    monkeypatch.setattr("apps.api.dialects.rest.views.endpoint.MAX_REQUESTS", 1_000_000)
    monkeypatch.setattr("apps.api.views.access.WRONG_SECRETS", 1_000_000)
    settings.RETRIEVAL_HOST_GAP = 0.0
    mine = a_person_with_everything("Ada", size=8)
    consume()
    secret = Program(mine.person).secret
    with serving_pages({"/0": (RSS, FEED)}) as web:
        surroundings = {
            "SCHEMATHESIS_HOOKS": str(Path(__file__).with_name("contract_hooks.py")),
            "WIREBEAT_CONTRACT_IDS": json.dumps(ids_of(mine)),
            "WIREBEAT_CONTRACT_SITE": web.url(""),
        }
        report = tmp_path / "report.json"
        result = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", f"{live_server.url}/api/v1/openapi.json"),
                *("--header", f"Authorization: Bearer {secret}", "--checks", ",".join(CHECKS)),
                *("--max-examples", str(count), "--seed", "1", "--generation-database", "none"),
                *("--phases", "coverage,fuzzing" if count > 5 else "fuzzing", "--warnings", "off"),
                *("--suppress-health-check", "all", "--continue-on-failure", "--no-color"),
                *("--report", "json", "--report-json-path", str(report)),
            ],
            cwd=tmp_path,
            env=os.environ | surroundings,
            capture_output=True,
            text=True,
            timeout=1_700,
            check=False,
        )
    assert report.exists(), result.stdout + result.stderr
    found = json.loads(report.read_text())
    cases = found["test_cases"]
    print(
        f"{cases['generated']} cases of {found['operations']['tested']} operations: {len(found['failures'])} failures"
    )
    assert (found["failures"], found["errors"]) == ([], []), result.stdout
    assert found["operations"]["tested"] == found["operations"]["total"]
    assert cases["generated"] >= found["operations"]["total"] * count // 2
