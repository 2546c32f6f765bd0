"""Pages of an account that allauth does not have."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts import actions, pages, queries
from apps.accounts.actions import rate_limits
from apps.accounts.adapters import INVITATION
from apps.accounts.forms import TokenForm
from apps.accounts.queries.site import own_address
from apps.accounts.views.requests import PersonsRequest, errors_in, for_staff, person_get, person_post

CREATED_AN_HOUR = 30  # tokens, by one user


@person_get
def account(request: PersonsRequest) -> HttpResponse:
    return render(request, "accounts/account.html", {"page": pages.account_page(request.user)})


# --- app tokens -------------------------------------------------------------------------------------------------------
@never_cache  # contains a secret
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def tokens(request: PersonsRequest) -> HttpResponse:
    form = TokenForm(request.POST or None)
    token, secret = None, ""
    if request.method == "POST" and form.is_valid():
        with errors_in(form, actions.NotPossible):
            if not rate_limits.is_within("token", request.user.pk, most=CREATED_AN_HOUR, seconds=3_600):
                raise actions.NotPossible(_("You have created many tokens in the last hour. Try again later."))
            token, secret = actions.make_token(request.user, **form.cleaned_data, now=now())
            form = TokenForm()
    context = {"form": form, "secret": secret, "tokens": queries.tokens_of(request.user), "now": now()}
    if token is not None and token.fever_key:
        context["fever_address"] = own_address(reverse("fever"))
    return render(request, "accounts/tokens.html", context)


@person_post
def revoke_token(request: PersonsRequest, token_id: int) -> HttpResponse:
    revoked = actions.revoke_token(request.user, token_id)
    return _ended(request, revoked, _("Token revoked. Apps that use it can no longer sign in."), "app_tokens")


def _ended(request: HttpRequest, is_ended: bool, text: str, page: str) -> HttpResponse:
    """The answer to the end of something that is listed on a page, or 404 if there was no such thing."""
    if not is_ended:
        raise Http404
    messages.success(request, text)
    return redirect(page)


# --- sessions ---------------------------------------------------------------------------------------------------------
@person_post
def end_session(request: PersonsRequest, session_id: int) -> HttpResponse:
    ended = actions.end_session(request.user, session_id)
    return _ended(request, ended, _("That browser is now signed out."), "usersessions_list")


# --- invitations ------------------------------------------------------------------------------------------------------
@never_cache  # contains a secret
@require_http_methods(["GET", "HEAD", "POST"])
@for_staff
def invitations(request: PersonsRequest) -> HttpResponse:
    made = reverse("accept_invitation", args=[queries.invitation_by(request.user)]) if request.method == "POST" else ""
    context = {
        "link": own_address(made) if made else "",
        "days": queries.INVITED_FOR.days,
        "is_needed": settings.SIGN_UP == "invited",
    }
    return render(request, "accounts/invitations.html", context)


@never_cache
@require_safe
def accept_invitation(request: HttpRequest, invitation_secret: str) -> HttpResponse:
    if not queries.may_sign_up(invitation_secret):
        return render(request, "accounts/invitation_over.html", status=404)
    request.session[INVITATION] = invitation_secret
    return redirect("account_signup")
