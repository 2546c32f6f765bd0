"""Import and export of OPML lists."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.utils.timezone import now
from django.utils.translation import gettext as _

from apps.accounts.views.requests import person_get
from apps.following import queries as following
from apps.following.actions import NotPossible
from apps.reading.forms.folders import OpmlForm
from apps.retrieval.actions import NoDocument, fetch_document
from apps.retrieval.actions import following as retrieval
from apps.sources.algorithms.addresses import BadAddress
from apps.sources.formats import opml
from apps.web.pages.reasons import translate_reason
from apps.web.views.rendering import PersonsRequest, show


@login_required
def import_list(request: PersonsRequest) -> HttpResponse:
    form = OpmlForm(request.POST or None, request.FILES or None)
    report = None
    if request.method == "POST" and form.is_valid():
        try:
            document = opml.read(_content(request, form))
            report = retrieval.import_list(request.user, document, now=now())
        except opml.BrokenOpml as problem:
            form.add_error(
                form.given, _("Nothing was imported: the file cannot be read.") + f" {translate_reason(str(problem))}"
            )
        except (NotPossible, NoDocument, BadAddress) as problem:
            form.add_error(form.given, _("Nothing was imported.") + f" {translate_reason(str(problem))}")
    return show(request, "reading/opml.html", form=form, report=report)


def _content(request: PersonsRequest, form: OpmlForm) -> bytes:
    address = form.cleaned_data["address"]
    if not address:
        content: bytes = form.cleaned_data["file"].read()
        return content
    return fetch_document(request.user, address, now=now())


@person_get
def export_list(request: PersonsRequest) -> HttpResponse:
    document = opml.write(following.subscription_list(request.user), now())
    return HttpResponse(
        document,
        content_type="text/x-opml; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="wirebeat.opml"'},
    )
