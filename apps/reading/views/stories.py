"""Stories, and personal ranking."""

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from apps.accounts.views.requests import person_get, person_post
from apps.following import actions as following_actions
from apps.published_feeds.pages import menu_of_story
from apps.reading.pages.sections import front_sections
from apps.reading.pages.stories import own_page, stories_page, story_page
from apps.stories import actions
from apps.stories.queries import front
from apps.web.views.rendering import PersonsRequest, Request, back, page_number, require_readable, show


@require_safe
def index(request: Request) -> HttpResponse:
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
    return show(request, "reading/stories_story.html", page=page, feeds=menu_of_story(found.pk))


@person_get
def own(request: PersonsRequest) -> HttpResponse:
    return show(request, "reading/stories_own.html", page=own_page(request.user, page_number(request), now()))


@person_post
def learning(request: PersonsRequest) -> HttpResponse:
    """Switch personal ranking on or off, or reset it."""
    match request.POST.get("learning"):
        case "on":
            actions.set_learning(request.user, is_on=True)
        case "off":
            actions.set_learning(request.user, is_on=False)
        case "forget":
            actions.forget_taste(request.user)
            messages.success(request, _("Reset: nothing is known about your taste any more."))
        case _:
            return HttpResponseBadRequest("Say on, off or forget.")
    return redirect("own")


@person_post
def hide(request: PersonsRequest, posting_id: int) -> HttpResponse:
    """Hide a posting and mark it read, or show it again."""
    require_readable(request.user, posting_id)
    hidden = request.POST.get("hidden") != "no"
    actions.hide(request.user, posting_id, hidden=hidden, now=now())
    if hidden:
        following_actions.mark_read(request.user, [posting_id], read=True, now=now())
    return HttpResponse() if request.htmx else back(request, "own")
