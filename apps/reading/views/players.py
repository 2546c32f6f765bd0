"""The frame for the player of another site, the only page of ours that may load anything from there."""

from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from apps.accounts.middleware import impersonal
from apps.postings.algorithms.players import player_of
from apps.web.pages.pictures import BadSignature, address_in


@impersonal
@require_safe
@xframe_options_sameorigin
def player(request: HttpRequest, signature: str, encoded: str) -> HttpResponse:
    try:
        found = player_of(address_in(signature, encoded, kind="player"))
    except BadSignature as problem:
        raise Http404(str(problem)) from problem
    if found is None:  # no longer known
        raise Http404("No player is known for this address.")
    response = render(request, "reading/player.html", {"player": found})
    site = urlsplit(found.frame)
    response._csp_config = {  # type: ignore[attr-defined]
        "default-src": [NONE],
        "style-src": [SELF],
        "frame-src": [f"{site.scheme}://{site.netloc}"],
        "frame-ancestors": [SELF],
    }
    return response
