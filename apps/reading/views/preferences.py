"""Reading preferences."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from apps.accounts import actions
from apps.accounts.forms import PreferencesForm
from apps.web.views.rendering import PersonsRequest, show


@login_required
def preferences(request: PersonsRequest) -> HttpResponse:
    form = PreferencesForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        actions.set_preferences(request.user, **form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect("preferences")
    return show(request, "reading/preferences.html", form=form)
