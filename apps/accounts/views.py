from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from apps.accounts import actions
from apps.accounts.forms import PreferencesForm
from apps.accounts.models import User


class PersonsRequest(HttpRequest):
    user: User


@login_required
def preferences(request: PersonsRequest) -> HttpResponse:
    form = PreferencesForm(request.POST or None, instance=request.user)
    if request.method == "POST" and form.is_valid():
        actions.set_preferences(request.user, **form.cleaned_data)
        messages.success(request, "Saved.")
        return redirect("preferences")
    return render(request, "accounts/preferences.html", {"form": form})
