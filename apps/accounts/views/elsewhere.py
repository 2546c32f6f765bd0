"""Signing in elsewhere; loaded where providers are configured."""

from allauth.socialaccount.providers.openid_connect.views import login as openid_login
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render


def sign_in_elsewhere(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """To an OpenID provider by way of a page: our content security policy forbids forms that lead to other sites."""
    response: HttpResponseBase = openid_login(request, provider_id=provider_id)
    leads_away = response.status_code == 302 and response["Location"].startswith(("https://", "http://"))
    if request.method != "POST" or not leads_away:
        return response
    page = render(request, "socialaccount/login_redirect.html", {"redirect_to": response["Location"]})
    page.cookies.update(response.cookies)
    return page
