"""Pages of sources, and their administration."""

import json
from dataclasses import fields
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _

from apps.accounts.views.requests import for_staff, person_get, present, staff_get, staff_post
from apps.dashboard import actions
from apps.dashboard.forms.curating import SourceFilterForm
from apps.dashboard.forms.sources import PREFIX, PRIVATE, CrawlForm, KeenTagsForm, SourceForm
from apps.dashboard.pages.sources import keen_tags_page, merge_page, source_page, source_pages_page, sources_page
from apps.following import queries as following
from apps.retrieval import actions as retrieval
from apps.retrieval.http.inspection import inspect, propose_recipes
from apps.retrieval.models import Page
from apps.retrieval.reports.source import effect_of
from apps.sources import actions as sources
from apps.sources import queries as source_queries
from apps.sources.algorithms.addresses import BadAddress, normalise
from apps.sources.formats.recipes import Recipe
from apps.sources.kinds import proposing
from apps.sources.models import Source
from apps.web.algorithms.numbers import whole_number
from apps.web.pages import Context
from apps.web.pages.reasons import translate_reason
from apps.web.views.rendering import PersonsRequest, Request, back, by, filter_words, show


@staff_get
def index(request: HttpRequest) -> HttpResponse:
    chosen = SourceFilterForm(request.GET).filter()
    return show(request, "dashboard/sources.html", page=sources_page(chosen, request.GET.get("page", "1"), now()))


@person_get
def detail(request: HttpRequest, source_id: int) -> HttpResponse:
    return show(request, "dashboard/source.html", page=_page(request, source_id))


@for_staff
def add(request: HttpRequest) -> HttpResponse:
    form = SourceForm(request.POST or None, initial={"listed": True, "always_retrieved": True})
    if response := _work_on(request, form, None):
        return response
    if request.method == "POST" and form.is_valid():
        if not _is_new_or_among(form.cleaned_data["url"], following.publishable_sources(request.user)):
            form.add_error("url", PRIVATE)
            return show(request, "dashboard/source_form.html", form=form)
        try:
            decided = by(request, "a new source", form.cleaned_data["why"])
            return redirect("source", actions.add_source(form.values(), now=now(), by=decided))
        except (BadAddress, ValueError) as problem:
            form.add_error("url", translate_reason(str(problem)))
    return show(request, "dashboard/source_form.html", form=form)


@for_staff
def edit(request: Request, source_id: int) -> HttpResponse:
    page = _page(request, source_id)
    locked = not page["source"].listed and not following.may_open_private(request.user)
    form = SourceForm(request.POST or None, instance=page["source"], locked=locked)
    if "effect" in request.POST:
        return _show_effect(request, form, page)
    if response := _work_on(request, form, page["source"]):
        return response
    if request.method == "POST" and form.is_valid():
        try:
            decided = by(request, "the source", form.cleaned_data["why"])
            actions.edit_source(source_id, now=now(), by=decided, **form.values())
            retrieval.replan([source_id], now=now())
            return redirect("source", source_id)
        except (BadAddress, ValueError) as problem:
            form.add_error("url", translate_reason(str(problem)))
    return show(request, "dashboard/source_form.html", form=form, source=page["source"])


def _work_on(request: HttpRequest, form: SourceForm, source: Source | None) -> HttpResponse | None:
    """Test the form's source, propose paths, or fill in proposed ones; None if the request is for none of these."""
    context: dict[str, Any] = {}
    address = (form["url"].value() or "")[:2_100].strip()
    if "test" in request.POST or "propose" in request.POST:
        _require_testable(request, address)
    if "test" in request.POST:
        context["inspection"] = inspect(address, now=now(), kind=form.typed_kind(), recipe=form.typed_recipe())
    elif "propose" in request.POST:
        example = request.POST.get("example", "")[:500]
        proposals = propose_recipes(address, example, kind=form.typed_kind(), now=now())
        context["proposals"] = proposals
        if proposals.found:
            form = _with_recipe(request, proposals.found[0].recipe, form)
    elif "use" in request.POST:
        form = _with_recipe(request, _read_recipe(request.POST["use"]), form)
    else:
        return None
    return show(request, "dashboard/source_form.html", form=form, source=source, **context)


def _is_new_or_among(address: str, allowed: QuerySet[Source]) -> bool:
    """Whether there is no source at an address, or an allowed one."""
    try:
        found = set(source_queries.by_address([normalise(address)]).values())
    except BadAddress:
        return True
    return not found or allowed.filter(pk__in=found).exists()


def _require_testable(request: HttpRequest, address: str) -> None:
    if not _is_new_or_among(address, following.known_sources(request.user)):
        raise Http404("There is no such source.")


def _with_recipe(request: HttpRequest, recipe: Recipe, typed: SourceForm) -> SourceForm:
    """The form with the paths of a proposal."""
    data = request.POST.copy()
    data["kind"] = proposing(data.get("kind", "")).name
    for field in fields(recipe):
        data[PREFIX + field.name] = getattr(recipe, field.name)
    return SourceForm(data, instance=typed.instance, locked=typed.locked)


def _read_recipe(text: str) -> Recipe:
    try:
        return Recipe.from_json(json.loads(text[:20_000]))
    except (ValueError, RecursionError):
        return Recipe()


def _show_effect(request: Request, form: SourceForm, page: Context) -> HttpResponse:
    """Show the effect of the typed weight without saving it; alone for htmx, or else with the form."""
    form.is_valid()
    weight = form.cleaned_data.get("weight")
    effect = None if weight is None else effect_of(page["source"], weight, now())
    context: dict[str, Any] = {"form": form, "source": page["source"], "is_preview": True, "effect": effect}
    return show(request, "dashboard/source_form.html", part="dashboard/_weight_effect.html", **context)


@for_staff
def merge(request: PersonsRequest, source_id: int) -> HttpResponse:
    """Choose the source to merge this one into, preview the result, and confirm it."""
    wanted = request.POST if request.method == "POST" else request.GET
    page = present(
        merge_page(
            request.user,
            source_id,
            words=filter_words(request),
            kept_id=whole_number(wanted.get("kept", "")),
        ),
        "There is no such source.",
    )
    if request.method == "POST" and page["preview"] is not None:
        kept = page["preview"]["kept"]
        merged = actions.merge_sources(kept.pk, source_id, now=now(), by=by(request, "merging"))
        messages.success(
            request,
            _("{source} merged: {postings} articles and {followers} followers moved.").format(
                source=page["source"], postings=merged.moved + merged.joined, followers=merged.followers
            ),
        )
        return redirect("source", kept.pk)
    return show(request, "dashboard/source_merge.html", page=page)


@for_staff
def delete(request: HttpRequest, source_id: int) -> HttpResponse:
    page = _page(request, source_id)
    if request.method == "POST":
        sources.curating.delete_sources([source_id], by=by(request, "the source"))
        messages.success(request, _("{source} deleted.").format(source=page["source"]))
        return redirect("sources")
    return show(request, "dashboard/source_delete.html", page=page)


@staff_post
def set_state(request: HttpRequest, source_id: int) -> HttpResponse:
    wanted = request.POST.get("state")
    if wanted not in (Source.State.ACTIVE, Source.State.PAUSED):
        raise Http404("There is no such state.")
    page = _page(request, source_id)
    actions.set_state(page["source"].pk, Source.State(wanted), now=now(), by=by(request, "a button of the source"))
    return back(request, "sources")


@staff_post
def check_now(request: HttpRequest, source_id: int) -> HttpResponse:
    """Check now."""
    page = _page(request, source_id)
    source = page["source"]
    if page["schedule"] is None:
        messages.warning(request, _("{source} is not scheduled: it has no followers yet.").format(source=source))
        return back(request, "sources")
    check = retrieval.request_check(source.pk, now=now())
    if check.granted:
        messages.success(request, _("{source} will be checked shortly.").format(source=source))
    else:
        words = _("{source} will not be checked before {time} UTC: {reason}")
        reason = translate_reason(check.reason)
        messages.warning(request, words.format(source=source, time=f"{check.at:%H:%M:%S}", reason=reason))
    return back(request, "sources")


@staff_get
def test(request: HttpRequest) -> HttpResponse:
    """Fetch an address, or that of a source, and show every step; nothing is stored."""
    address = request.GET.get("address", "")[:2_100].strip()
    source_id = whole_number(request.GET.get("source", ""))
    if source_id is not None:
        page = _page(request, source_id)
        if page["hidden"]:
            raise Http404("There is no such source.")
        source = page["source"]
        recipe = Recipe.from_json(source.recipe)
        inspected = inspect(source.url, now=now(), kind=source.kind, recipe=recipe)
        return show(request, "dashboard/source_test.html", address=source.url, inspection=inspected, source=source)
    _require_testable(request, address)
    inspection = inspect(address, now=now()) if address else None
    return show(request, "dashboard/source_test.html", address=address, inspection=inspection)


def _page(request: HttpRequest, source_id: int) -> Context:
    return present(source_page(request.user, source_id, now()), "There is no such source.")


# --- crawled pages and keen tags --------------------------------------------------------------------------------------
@for_staff
def pages(request: PersonsRequest, source_id: int) -> HttpResponse:
    page = present(
        source_pages_page(
            request.user,
            source_id,
            kind=request.GET.get("kind", ""),
            words=filter_words(request),
            number=request.GET.get("page", "1"),
        ),
        "There is no such source.",
    )
    crawl = page["crawl"]
    initial = {name: getattr(crawl, name) for name in CrawlForm.base_fields} if crawl else None
    form = CrawlForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        retrieval.change_crawl(source_id, now=now(), **form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect("source_pages", source_id)
    return show(request, "dashboard/source_pages.html", page=page, form=form)


@staff_post
def decide(request: HttpRequest, source_id: int, page_id: int) -> HttpResponse:
    """Fetch a page again, or exclude it."""
    kind = request.POST.get("kind", "")
    if kind not in ("", Page.Kind.VALUELESS) or not retrieval.decide_page(source_id, page_id, kind, now=now()):
        raise Http404("There is no such page.")
    return back(request, "sources")


@for_staff
def keen_tags(request: HttpRequest, source_id: int) -> HttpResponse:
    page = present(keen_tags_page(source_id), "There is no such source.")
    form = KeenTagsForm(request.POST or None, initial={"tags": " ".join(page["tags"] or ())})
    if request.method == "POST":
        if "train" in request.POST:
            return _train(request, source_id)
        if form.is_valid():
            retrieval.set_keen_tags(source_id, form.cleaned_data["tags"], now=now())
            messages.success(request, _("Saved."))
            return redirect("keen_tags", source_id)
    return show(request, "dashboard/keen_tags.html", page=page, form=form)


def _train(request: HttpRequest, source_id: int) -> HttpResponse:
    try:
        trained = retrieval.train_keen_tags(source_id, now=now())
    except ValueError as problem:
        messages.warning(request, translate_reason(str(problem)))
    else:
        messages.success(
            request,
            _("Trained with {number} pages: F1 of text extraction is {after}, was {before}.").format(
                number=trained.pages, after=f"{trained.after:.3f}", before=f"{trained.before:.3f}"
            ),
        )
    return redirect("keen_tags", source_id)
