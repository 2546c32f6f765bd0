"""Preferences of users; language, theme and typesetting also of visitors."""

from dataclasses import asdict

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.accounts import actions
from apps.accounts.context_processors import COOKIE, TYPESETTING_COOKIE, chosen_theme, chosen_typesetting, remember
from apps.accounts.forms import AppearanceForm, PreferencesForm
from apps.accounts.models import User
from apps.web.views.rendering import PersonsRequest, back, show


@login_required
def preferences(request: PersonsRequest) -> HttpResponse:
    form = PreferencesForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        actions.set_preferences(request.user, **form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect("preferences")
    return show(request, "reading/preferences.html", form=form)


@require_http_methods(["GET", "HEAD", "POST"])
def appearance(request: HttpRequest) -> HttpResponse:
    """Set them, and redirect to the previous page."""
    person, cookies = request.user, request.COOKIES
    language = person.language if isinstance(person, User) else cookies.get(settings.LANGUAGE_COOKIE_NAME, "")
    kept = chosen_typesetting(request)
    initial = {"theme": chosen_theme(request), "language": language, **asdict(kept)}
    form = AppearanceForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        response = back(request, "home")
        theme, language = form.cleaned_data["theme"], form.cleaned_data["language"]
        typesetting = kept.changed(form.cleaned_data).written
        if isinstance(request.user, User):
            actions.set_preferences(request.user, theme=theme, language=language, typesetting=typesetting)
        else:
            names = (COOKIE, settings.LANGUAGE_COOKIE_NAME, TYPESETTING_COOKIE)
            remember(response, dict(zip(names, (theme, language, typesetting), strict=True)))
        return response
    wanted = request.POST.get("next") or request.GET.get("next", "")
    return show(request, "reading/appearance.html", form=form, next=wanted)
