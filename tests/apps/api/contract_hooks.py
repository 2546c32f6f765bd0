"""What schemathesis is result of the portal that it tries: ids that are there, and a site that answers.

It would hardly ever guess either. An id that can be is exchanged for another one that can be, so whatever was meant to
be wrong stays so; every fourth stays as it is, for rows that are not there.
"""

import json
import os
from typing import Any
from urllib.parse import quote

import schemathesis

KNOWN: dict[str, list[int]] = json.loads(os.environ.get("WIREBEAT_CONTRACT_IDS", "{}"))
SITE = os.environ.get("WIREBEAT_CONTRACT_SITE", "")


def _known(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_known(name, each) for each in value]
    if isinstance(value, dict):
        return {key: _known(key, each) for key, each in value.items()}
    if name == "address" and isinstance(value, str) and value.strip():
        return f"{SITE}/{quote(value[:100], errors='ignore')}"
    can_be = type(value) is int and 0 < value < 2**63
    return KNOWN[name][value % len(KNOWN[name])] if can_be and name in KNOWN and value % 4 else value


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any]) -> dict[str, Any]:
    return _known("", path_parameters) if path_parameters else path_parameters


@schemathesis.hook
def map_query(context: Any, query: dict[str, Any]) -> dict[str, Any]:
    return _known("", query) if query else query


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    return _known("", body) if isinstance(body, dict) else body
