"""Health checks, and metrics for Prometheus."""

import hmac
import ipaddress
from collections.abc import Iterator

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from apps.accounts.middleware import impersonal
from apps.dashboard.pages.metrics import metrics
from apps.dashboard.queries import services

# Requests through a proxy have the proxy's address, which often is this machine's.
TRACES_OF_PROXIES = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP")


@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    problems = services.problems()
    body = "\n".join(problems or ["ready"])
    return HttpResponse(f"{body}\n", status=503 if problems else 200, content_type="text/plain; charset=utf-8")


@never_cache
@require_safe
def scrape(request: HttpRequest) -> HttpResponse:
    if not _may_scrape(request):
        raise Http404
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Metrics())
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Metrics(Collector):
    def collect(self) -> Iterator[Metric]:
        return metrics(now())


def _may_scrape(request: HttpRequest) -> bool:
    """With the configured token; or else directly from a private address."""
    if token := settings.METRICS_TOKEN:
        return hmac.compare_digest(request.headers.get("Authorization", "").encode(), f"Bearer {token}".encode())
    if any(name in request.headers for name in TRACES_OF_PROXIES):
        return False
    try:
        address = ipaddress.ip_address(request.META.get("REMOTE_ADDR", ""))
    except ValueError:  # a socket of a proxy on this machine
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_private


@impersonal
@never_cache
@require_safe
def live(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok", content_type="text/plain")
