"""Rules without the query language."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.timezone import localtime, now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.accounts.views.requests import errors_in, person_get, person_post
from apps.alerts.actions.plain_rules import forget_plain_rule, save_plain_rule
from apps.following.actions.errors import NotPossible
from apps.reading.forms import PlainRuleForm
from apps.reading.pages.rules import last_week, preview, rules_page
from apps.search.queries import TooCostly
from apps.search.queries.saved import plain_rules
from apps.web.views.rendering import PersonsRequest, show


@person_get
def rules(request: PersonsRequest) -> HttpResponse:
    return show(request, "reading/rules.html", rules=rules_page(request.user))


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def rule(request: PersonsRequest, rule_id: int | None = None) -> HttpResponse:
    """The form of a new or existing rule. Without `save` it shows what the rule would do; links may fill it in."""
    known = get_object_or_404(plain_rules(request.user).select_related("rule"), pk=rule_id) if rule_id else None
    given = {name: request.GET[name][:200] for name in ("place", "part", "words") if name in request.GET}
    initial = PlainRuleForm.values_of(known) if known else given | {"effects": request.GET.getlist("effects")}
    form = PlainRuleForm(request.POST or None, user=request.user, initial=initial)
    shown = None
    if request.method == "POST" and form.is_valid():
        with errors_in(form, NotPossible, TooCostly):
            found = last_week(request.user, form.rule(), localtime())
            if "save" in request.POST:
                past = found if form.cleaned_data["past"] else ()
                done = form.actions()
                save_plain_rule(request.user, form.rule(), **done, replaced_id=rule_id, past_ids=past, now=now())
                messages.success(request, _("Rule saved."))
                return redirect("plain_rules")
            shown = preview(request.user, found)
    return show(request, "reading/rule.html", form=form, saved=known, preview=shown)


@person_post
def forget_rule(request: PersonsRequest, rule_id: int) -> HttpResponse:
    if forget_plain_rule(request.user, rule_id, now=now()):
        messages.success(request, _("Rule deleted. Articles that it had hidden are in your lists again."))
    return redirect("plain_rules")
