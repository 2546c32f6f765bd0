"""Services that articles are sent to, and sending them."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.accounts.views.requests import errors_in, person_post, present
from apps.alerts.actions import sending
from apps.alerts.send_to import all_services
from apps.following import queries as following
from apps.following.actions.errors import NotPossible
from apps.reading.forms import DestinationForm
from apps.reading.pages.posting import destinations_page
from apps.web.algorithms.numbers import whole_number
from apps.web.views.rendering import PersonsRequest, back, show


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def destinations(request: PersonsRequest) -> HttpResponse:
    """The user's services, and the form of one more: the service is named in the address."""
    form, service = None, all_services().get(request.GET.get("service", ""))
    if service is not None:
        form = DestinationForm(request.POST or None, service=service)
        if request.method == "POST" and form.is_valid():
            name, settings = form.cleaned_data.pop("name"), form.cleaned_data
            with errors_in(form, NotPossible):
                added = sending.add_destination(request.user, service.name, settings, name=name, now=now())
                text = _("You can now send articles to %(name)s: from the menu of an article, or by the key b.")
                messages.success(request, text % {"name": added})
                return redirect("destinations")
    page = destinations_page(request.user)
    return show(request, "reading/destinations.html", page=page, form=form, service=service)


@person_post
def remove(request: PersonsRequest, destination_id: int) -> HttpResponse:
    if not sending.remove_destination(request.user, destination_id):
        raise Http404("You have no such service.")
    messages.success(request, _("Removed, together with articles that were still waiting."))
    return redirect("destinations")


@person_post
def send(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Send an article; a key of the keyboard gets the result as text."""
    posting = present(following.readable_by(request.user).filter(pk=posting_id).first(), "There is no such posting.")
    status, notify = 200, messages.success
    try:
        destination = sending.send(request.user, posting, whole_number(request.POST.get("to", "")), now=now())
        text = _("On its way to %(name)s.") % {"name": destination}
    except NotPossible as problem:
        status, notify, text = 409, messages.error, str(problem)
    if request.headers.get("Accept") == "text/plain":
        return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
    notify(request, text)
    return back(request, "posting", posting_id)
