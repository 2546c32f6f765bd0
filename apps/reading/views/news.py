"""The front page, stories, sections, trends and summaries."""

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from django.views.defaults import page_not_found

from apps.accounts.middleware import speak_to
from apps.accounts.views.requests import person_get, person_post, present
from apps.following import actions as following_actions
from apps.published_feeds.pages import menu_of
from apps.published_feeds.queries.channels import Channel
from apps.reading.pages.news import for_you_page, front_sections, home_page, section_page, stories_page, story_page
from apps.reading.pages.trending import TrendingParameters, trends_page
from apps.stories import actions
from apps.stories.queries import front
from apps.stories.queries.sections import section_named
from apps.web.algorithms.numbers import whole_number
from apps.web.pages.summaries import summary_of_posting
from apps.web.views.rendering import PersonsRequest, Request, back, page_number, require_readable, show


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect("river")
    page = home_page(now())
    if settings.SIGN_UP == "closed" and not settings.STARTER_EDITION and not (page["rows"] or page["cards"]):
        return redirect("account_login")  # there is nothing for visitors
    return show(request, "reading/home.html", page=page)


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    return show(request, "reading/keys.html")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page for unknown addresses, in the user's language, which is not active outside of views."""
    speak_to(request)
    return page_not_found(request, exception)


@require_safe
def stories(request: Request) -> HttpResponse:
    moment = now()
    page = stories_page(request.user, page_number(request), moment)
    return show(request, "reading/stories.html", page=page, sections=front_sections(request.user, moment))


@require_safe
def story(request: Request, story_id: int) -> HttpResponse:
    """A story; one that was merged into another redirects to it."""
    found = front.story_of(story_id)
    page = story_page(request.user, found) if found is not None else None
    if found is None or page is None:
        raise Http404("There is no such story.")
    if found.pk != story_id:
        return redirect("story", found.pk)
    return show(request, "reading/stories_story.html", page=page)


@person_get
def for_you(request: PersonsRequest) -> HttpResponse:
    return show(request, "reading/for_you.html", page=for_you_page(request.user, page_number(request), now()))


@person_post
def learning(request: PersonsRequest) -> HttpResponse:
    """Switch personal ranking on or off, or reset it."""
    match request.POST.get("learning"):
        case "on" | "off" as state:
            actions.learning.set_learning(request.user, is_on=state == "on")
            messages.success(request, _("Personalisation is on.") if state == "on" else _("Personalisation is paused."))
        case "forget":
            actions.learning.forget_taste(request.user)
            messages.success(request, _("Reset: nothing is known about your taste now."))
        case _:
            return HttpResponseBadRequest("Say on, off or forget.")
    return redirect("for_you")


@person_post
def hide(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Hide a posting and mark it read, or show it again."""
    require_readable(request.user, posting_id)
    hidden = request.POST.get("hidden") != "no"
    actions.learning.hide(request.user, posting_id, hidden=hidden, now=now())
    if hidden:
        following_actions.marks.mark_read(request.user, [posting_id], read=True, now=now())
    return HttpResponse() if request.htmx else back(request, "for_you")


@require_safe
def section(request: Request, slug: str) -> HttpResponse:
    found = section_named(slug)
    if found is None or not found.is_on:
        raise Http404("There is no such section.")
    page = section_page(request.user, found, page_number(request), now())
    return show(request, "reading/section.html", page=page, feeds=menu_of(Channel("section", slug)))


@require_safe
def trends(request: HttpRequest) -> HttpResponse:
    parameters = TrendingParameters.read(request.GET)
    return show(request, "reading/trending.html", page=trends_page(request.user, parameters, now()))


@require_safe
@vary_on_headers("HX-Request")
def summary(request: Request, posting_id: int) -> HttpResponse:
    """The summary in another length for htmx; other requests are redirected to the posting."""
    percent = chosen_percent(request)
    if not request.htmx:
        query = f"?percent={percent}" if percent else ""
        return redirect(f"{reverse('posting', args=[posting_id])}{query}#summary")
    part = present(summary_of_posting(request.user, posting_id, percent), "There is no such posting.")
    return render(request, "reading/_summaries_part.html", {"summary": part})


def chosen_percent(request: Request) -> int | None:
    """The requested length of the summary, in percent of the text."""
    return whole_number(request.GET.get("percent", ""), 999)
