"""The interface as a whole: how it answers, and how it describes itself."""

import json
from datetime import date, datetime
from functools import cached_property
from hashlib import blake2b
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.renderers import JSONRenderer
from ninja.responses import NinjaJSONEncoder

from apps.api.dialects.rest.views import problems
from apps.api.dialects.rest.views.endpoint import Token

DESCRIPTION = """
Read, follow and search what this portal has, as the person whose app token you bring.

- **Lists** come in pages: ask again with `cursor` set to the `next` of the page before, or follow the `Link` header,
  until `next` is null. A page stays where it was while news arrive. A cursor means nothing but this.
- **Problems** are told as RFC 9457 has it, in `application/problem+json`.
- **ETags**: send one back in `If-None-Match`, and an answer that would be the same is 304 without a body.
- **Limits**: 600 requests a minute for each person; `RateLimit-Remaining` says how many are left for now.
- **Times** are ISO 8601 with their offset.
"""
TAGS = {
    "account": "The person whose token it is.",
    "sources": "Where news comes from.",
    "plan": "When sources are asked, and why then.",
    "following": "What you follow, in which folders.",
    "postings": "What sources published, with your marks, tags and notes on it.",
    "search": "The whole archive by the portal's query language.",
    "alerts": "Searches that you keep, what they found as it came, and how you were told.",
    "trends": "Terms that rise.",
    "stories": "Postings that tell of one event.",
}
_PASSING = {"shown_at", "milliseconds"}  # of answers, which are the same without them


class _Encoder(NinjaJSONEncoder):
    """Times as they are: Django's own encoder cuts them to milliseconds."""

    def default(self, value: Any) -> Any:
        return value.isoformat() if isinstance(value, datetime | date) else super().default(value)


class _Renderer(JSONRenderer):
    encoder_class = _Encoder
    json_dumps_params = {"ensure_ascii": False, "separators": (",", ":")}


class Interface(NinjaAPI):
    def __init__(self) -> None:
        super().__init__(
            title="Wirebeat",
            version="1",
            description=DESCRIPTION,
            urls_namespace="rest",
            auth=Token(),
            renderer=_Renderer(),
            openapi_extra={"tags": [{"name": name, "description": words} for name, words in TAGS.items()]},
        )
        problems.tell_problems_of(self)

    def create_response(
        self,
        request: HttpRequest,
        data: Any,
        *,
        status: int | None = None,
        temporal_response: HttpResponse | None = None,
    ) -> HttpResponse:
        answer = super().create_response(request, data, status=status, temporal_response=temporal_response)
        if request.method != "GET" or answer.status_code != HTTPStatus.OK:
            return answer
        if isinstance(data, dict) and data.get("next"):
            onward = request.GET.copy()
            onward["cursor"] = data["next"]
            address = request.build_absolute_uri(f"{request.path}?{urlencode(list(onward.lists()), doseq=True)}")
            answer["Link"] = f'<{address}>; rel="next"'
        answer["ETag"] = etag = self._etag(request, data, answer)
        conditional = get_conditional_response(request, etag=etag, response=answer)
        if conditional is not None and conditional.status_code == HTTPStatus.PRECONDITION_FAILED:
            return problems.problem_response("What is there now is not what If-Match names.", 412)
        return conditional or answer

    def _etag(self, request: HttpRequest, data: Any, answer: HttpResponse) -> str:
        content = answer.content
        if isinstance(data, dict) and not _PASSING.isdisjoint(data):
            lasting = {name: value for name, value in data.items() if name not in _PASSING}
            content = self.renderer.render(request, lasting, response_status=answer.status_code).encode()
        return f'"{blake2b(content, digest_size=16).hexdigest()}"'

    # --- how it describes itself --------------------------------------------------------------------------------------
    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__

    def get_openapi_schema(
        self, *, path_prefix: str | None = None, path_params: dict[str, Any] | None = None
    ) -> OpenAPISchema:
        return self._document

    @cached_property
    def _document(self) -> OpenAPISchema:
        document = super().get_openapi_schema()
        problem = problems.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        document["components"]["schemas"] |= problem.pop("$defs")
        document["components"]["schemas"]["Problem"] = problem
        for operations in document["paths"].values():
            for method, operation in operations.items():
                _describe(method, operation)
        as_text: OpenAPISchema = json.loads(json.dumps(document))  # whose keys are texts, also those of statuses
        return as_text


def _describe(method: str, operation: dict[str, Any]) -> None:
    """Say what is the same for all operations."""
    operation["security"] = [{"Token": ["read" if method == "get" else "write"]}]
    places = {parameter["in"] for parameter in operation["parameters"]}
    statuses = {*operation["responses"], 401, 403, 429}
    statuses |= {404, 422} if "path" in places else set()
    statuses |= {422} if "query" in places else set()
    statuses |= {400, 413, 415, 422} if "requestBody" in operation else set()
    statuses |= {400} if any(parameter["name"] == "cursor" for parameter in operation["parameters"]) else set()
    statuses |= {304, 412} if method == "get" else set()
    said = operation["responses"]
    operation["responses"] = {status: _response(status, said.get(status, {})) for status in sorted(statuses)}


def _response(status: int, said: dict[str, Any]) -> dict[str, Any]:
    described = {"description": said.get("description") or HTTPStatus(status).phrase}
    if status >= 400:
        schema = {"$ref": "#/components/schemas/Problem"}
        return described | {"content": {problems.MEDIA_TYPE: {"schema": schema}}}
    return said | described
