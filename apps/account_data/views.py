"""Export, import and deletion of an account."""

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.account_data import actions, queries
from apps.account_data.formats.problems import BadArchive
from apps.account_data.forms import ArchiveForm, DeletionForm
from apps.account_data.members import MEMBERS
from apps.account_data.members.readers import STORED
from apps.accounts.actions import NotPossible, rate_limits
from apps.accounts.views.requests import PersonsRequest, errors_in, person_get, person_post
from apps.database.sanitizing import sanitize

ARCHIVES_AN_HOUR = 10  # exports per user, and as many imports
TOO_MANY = 429


@person_get
def archive(request: PersonsRequest) -> HttpResponse:
    return render(request, "account_data/archive.html", {"form": ArchiveForm()})


@person_post
def export(request: PersonsRequest) -> HttpResponse | StreamingHttpResponse:
    if not rate_limits.is_within("export", request.user.pk, most=ARCHIVES_AN_HOUR, seconds=3_600):
        return render(request, "429.html", status=TOO_MANY)
    at = now()
    return StreamingHttpResponse(
        queries.archive_of(request.user, now=at),
        content_type="application/zip",
        headers={
            "Content-Disposition": f'attachment; filename="wirebeat-{at:%Y-%m-%d}.zip"',
            "Content-Encoding": "identity",  # already compressed
            "Cache-Control": "no-store",
        },
    )


@person_post
def import_archive(request: PersonsRequest) -> HttpResponse:
    if not rate_limits.is_within("import", request.user.pk, most=ARCHIVES_AN_HOUR, seconds=3_600):
        return render(request, "429.html", status=TOO_MANY)
    form = ArchiveForm(request.POST, request.FILES)
    context: dict[str, object] = {"form": form}
    if form.is_valid():
        try:
            file = form.cleaned_data["file"]
            report = actions.import_file(request.user, file, sanitize(file.name), now=now())
            labels = [
                *((member.name, member.label) for member in MEMBERS),
                (STORED, _("Articles that are no longer in a feed")),
            ]
            rows = [(label, count) for name, label in labels if (count := report.restored[name])]
            context |= {"page": report, "rows": rows}
        except BadArchive as problem:
            form.add_error("file", _("Nothing was imported. %(problem)s") % {"problem": problem})
    return render(request, "account_data/archive.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@login_required
@reauthentication_required
def delete_account(request: PersonsRequest) -> HttpResponse:
    form = DeletionForm(request.POST or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        with errors_in(form, NotPossible):
            actions.delete_account(request.user, now=now())
            logout(request)
            messages.success(request, _("Your account and all your data have been deleted."))
            return redirect("home")
    return render(request, "account_data/delete.html", {"form": form})
