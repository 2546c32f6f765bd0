"""Search, saved searches, and their alerts."""

import json

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.timezone import localtime, now
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe
from django.views.decorators.vary import vary_on_headers

from apps.accounts.actions import rate_limits
from apps.accounts.queries.site import sends_mail
from apps.accounts.views.requests import errors_in, errors_shown, person_get, person_post
from apps.alerts.actions import delivering, rules
from apps.alerts.channels import webhook
from apps.alerts.channels.push import public_push_key
from apps.alerts.models import NotificationSettings, PercolatorQuery, Rule
from apps.database.sanitizing import sanitize
from apps.following.actions.errors import NotPossible
from apps.postings.queries import BadCursor
from apps.reading.forms import NotificationSettingsForm, RuleForm
from apps.reading.pages import search as pages
from apps.search.actions import saved as actions
from apps.search.algorithms.language import BadQuery
from apps.search.models import SavedSearch
from apps.search.queries import TooCostly
from apps.search.queries.addresses import query_address
from apps.search.queries.saved import saved_searches
from apps.web.algorithms.numbers import whole_number
from apps.web.pages.search_query import SearchQuery, explain
from apps.web.views.rendering import PersonsRequest, Request, back, show

MAX_COMPARED, COMPARED_SECONDS = 30, 600  # comparisons of models by a person
MAX_SUBSCRIPTION_BYTES = 8_192  # a subscription takes some hundred


@require_safe
@vary_on_headers("HX-Request", "HX-Target")  # or going back would show a piece of a page for the whole
def search(request: Request) -> HttpResponse:
    query = SearchQuery.read(request.GET)
    try:
        page = pages.search_page(request.user, query, localtime())
    except BadCursor as error:
        raise Http404(str(error)) from error
    except TooCostly as error:
        return show(request, "reading/search_costly.html", status=503, query=query, message=str(error))
    part = "reading/_search_rows.html" if query.start else ""
    if request.htmx.target == "found":
        part = part or "reading/_search_found.html"
    return show(request, "reading/search.html", part=part, page=page)


@require_safe
def search_help(request: Request) -> HttpResponse:
    return show(request, "reading/search_help.html")


@person_get
def compare_models(request: PersonsRequest) -> HttpResponse:
    """Answer one query by every search model, to judge what related terms change."""
    text = sanitize(request.GET.get("q", "")).strip()
    query = SearchQuery(text)
    if text and not rate_limits.is_within("compare", request.user.pk, most=MAX_COMPARED, seconds=COMPARED_SECONDS):
        message = _("You have compared models many times. Try again in a few minutes.")
        return show(request, "reading/search_costly.html", status=429, query=query, message=message)
    try:
        page = pages.models_page(request.user, text, localtime())
    except TooCostly as error:
        return show(request, "reading/search_costly.html", status=503, query=query, message=str(error))
    return show(request, "reading/search_models.html", page=page)


@person_get
def saved(request: PersonsRequest) -> HttpResponse:
    return show(request, "reading/search_saved.html", searches=pages.saved_search_rows(request.user))


@person_post
def save_search(request: PersonsRequest) -> HttpResponse:
    query = sanitize(request.POST.get("q", "")).strip()
    name = sanitize(request.POST.get("name", "")).strip() or query
    if not query:
        messages.error(request, _("There is nothing to save: enter a search first."))
        return redirect("search")
    order = request.POST.get("order")
    try:
        saved = actions.save_search(
            request.user,
            name,
            query,
            order=SavedSearch.Order(order if order in SavedSearch.Order.values else SavedSearch.Order.RELEVANCE),
            now=now(),
        )
    except (BadQuery, actions.NotSaved) as error:
        messages.error(request, explain(error) if isinstance(error, BadQuery) else str(error))
        return redirect("search")
    if "alert" not in request.POST:
        messages.success(request, _("Search saved."))
        return redirect(query_address(saved.query, saved.order))
    text = _("Search saved. Choose how you are notified.")
    if not Rule.objects.filter(pk=saved.pk).exists():
        if mailed := bool(sends_mail() and request.user.email):
            text = _("Search saved. You get a mail for each new article; here are more choices.")
        else:
            text = _("Search saved. The sidebar counts its new articles from your feeds; here are more choices.")
        rules.set_rule(request.user, saved.pk, mail=Rule.Mail.ONCE if mailed else Rule.Mail.NONE, highlight=not mailed)
    messages.success(request, text)
    return redirect("alert_rule", saved.pk)


@person_post
def change_search(request: PersonsRequest, saved_id: int) -> HttpResponse:
    """Rename or delete a search, or replace the addresses of its feed."""
    match request.POST.get("do"):
        case "forget":
            actions.forget_search(request.user, saved_id)
        case "move":
            actions.move_feed(request.user, saved_id)
            messages.success(request, _("New feed URLs created; the old ones no longer work."))
        case _:
            with errors_shown(request, actions.NotSaved):
                actions.rename_search(request.user, saved_id, sanitize(request.POST.get("name", "")))
    return redirect("saved_searches")


def _own(request: PersonsRequest, saved_id: int) -> SavedSearch:
    return get_object_or_404(saved_searches(request.user), pk=saved_id)


@person_get
def found(request: PersonsRequest, saved_id: int) -> HttpResponse:
    saved = get_object_or_404(SavedSearch, user=request.user, pk=saved_id)  # also of rules in plain fields
    page = pages.found_page(saved, request.user, whole_number(request.GET.get("before", "")))
    return show(request, "reading/alerts_found.html", part="reading/_alerts_rows.html", page=page)


@person_get
def service(request: PersonsRequest, saved_id: int) -> HttpResponse:
    return show(request, "reading/alerts_service.html", page=pages.service_page(_own(request, saved_id), now()))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def rule(request: PersonsRequest, saved_id: int) -> HttpResponse:
    saved = _own(request, saved_id)
    known = Rule.objects.filter(pk=saved.pk).first()
    percolator_query = PercolatorQuery.objects.filter(pk=saved.pk).first()
    form = RuleForm(request.POST or None, initial=RuleForm.values_of(known, percolator_query))
    if request.method == "POST" and form.is_valid():
        values = dict(form.cleaned_data)
        with errors_in(form, NotPossible):
            rules.set_importance(request.user, saved.pk, values.pop("importance"))
            rules.set_rule(request.user, saved.pk, **values)
            text = _("Saved. This now applies to articles that “{name}” finds.")
            if not any(values.values()):
                text = _("Saved. Articles that “{name}” finds are only listed.")
            messages.success(request, text.format(name=saved.name))
            return redirect("alert_rule", saved.pk)
    return show(
        request, "reading/alerts_rule.html", form=form, saved=saved, rule=known, percolator_query=percolator_query
    )


@person_post
def test_webhook(request: PersonsRequest, saved_id: int) -> HttpResponse:
    """Call the webhook of a search with a sample, and show the result."""
    saved = _own(request, saved_id)
    with errors_shown(request, NotPossible):
        result = webhook.test_webhook(request.user, saved.pk, now=now())
        notify = messages.error if result.error else messages.success
        notify(request, result.error or _("The webhook answered with status {status}.").format(status=result.status))
    return redirect("alert_rule", saved.pk)


@person_post
def resume(request: PersonsRequest, saved_id: int) -> HttpResponse:
    rules.resume(request.user, _own(request, saved_id).pk)
    return redirect("alert_rule", saved_id)


@person_get
def log(request: PersonsRequest) -> HttpResponse:
    page = pages.messages_page(
        request.user, whole_number(request.GET.get("before", "")), failed_only="given-up" in request.GET
    )
    return show(request, "reading/alerts_messages.html", page=page)


@person_post
def retry(request: PersonsRequest, message_id: int) -> HttpResponse:
    if delivering.retry(request.user, message_id, now=now()):
        messages.success(request, _("Retrying."))
    else:
        messages.error(request, _("Only a failed message can be retried."))
    return back(request, "alert_messages")


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def settings(request: PersonsRequest) -> HttpResponse:
    known = NotificationSettings.objects.filter(pk=request.user.pk).first()
    form = NotificationSettingsForm(request.POST or None, initial=NotificationSettingsForm.values_of(known))
    if request.method == "POST" and form.is_valid():
        with errors_in(form, NotPossible):
            rules.set_notification_settings(request.user, **form.cleaned_data)
            messages.success(request, _("Saved."))
            return redirect("alert_settings")
    page = pages.notification_settings_page(request.user, public_push_key())
    return show(request, "reading/alerts_settings.html", form=form, page=page)


@person_post
def add_browser(request: PersonsRequest) -> HttpResponse:
    """Store a push subscription (PushSubscription.toJSON) with the browser's name."""
    if len(request.body) > MAX_SUBSCRIPTION_BYTES:
        return JsonResponse({"error": _("The browser's address and keys are too long.")}, status=413)
    try:
        subscription = json.loads(request.body)
        keys = subscription["keys"]
        values = {"endpoint": subscription["endpoint"], "public_key": keys["p256dh"], "secret": keys["auth"]}
        name = subscription.get("name", "")
    except (ValueError, KeyError, TypeError, AttributeError):
        return JsonResponse({"error": _("This is not a browser's push subscription.")}, status=400)
    if not all(isinstance(value, str) and "\0" not in value for value in (*values.values(), name)):
        return JsonResponse({"error": _("This is not a browser's push subscription.")}, status=400)
    try:
        rules.add_browser(request.user, **values, name=name, now=now())
    except NotPossible as error:
        return JsonResponse({"error": str(error)}, status=400)
    return HttpResponse(status=204)


@person_post
def remove_browser(request: PersonsRequest, browser_id: int) -> HttpResponse:
    rules.remove_browser(request.user, browser_id)
    return redirect("alert_settings")


@csrf_exempt  # mail programs post to it (RFC 8058); the token authorizes only this
@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, token: str) -> HttpResponse:
    """Stop what the token stands for; GET changes nothing, since mail programs prefetch links."""
    stopped = rules.stop(token, now=now()) if request.method == "POST" else rules.stopped_by(token)
    if not stopped:
        raise Http404("This link no longer stops anything.")
    return show(request, "reading/alerts_stop.html", searches=stopped, is_done=request.method == "POST")
