"""Health checks, and metrics for Prometheus."""

import hmac
import ipaddress
from collections.abc import Iterator, Sequence

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from apps.accounts.middleware import impersonal
from apps.dashboard.pages.metrics import HistogramMetric, Metric, metrics
from apps.dashboard.queries import services

Family = GaugeMetricFamily | CounterMetricFamily | HistogramMetricFamily
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
    registry.register(_Collected(metrics(now())))
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _Collected(Collector):
    def __init__(self, found: Sequence[Metric | HistogramMetric]) -> None:
        self._found = found

    def collect(self) -> Iterator[Family]:
        for metric in self._found:
            yield _histogram(metric) if isinstance(metric, HistogramMetric) else _numbers(metric)


def _numbers(metric: Metric) -> GaugeMetricFamily | CounterMetricFamily:
    kind = CounterMetricFamily if metric.is_counter else GaugeMetricFamily
    family = kind(metric.name, metric.meaning, labels=[metric.label] if metric.label else None)
    for value, number in metric.values.items():
        family.add_metric([value] if metric.label else [], number)
    return family


def _histogram(metric: HistogramMetric) -> HistogramMetricFamily:
    family = HistogramMetricFamily(metric.name, metric.meaning, labels=[metric.label])
    for value, histogram in metric.values.items():
        buckets = [(floatToGoString(upper), count) for upper, count in histogram.buckets]
        family.add_metric([value], buckets, histogram.seconds)
    return family


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
