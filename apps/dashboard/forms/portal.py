"""Forms of the retrieval plan and of sections of the front page."""

from typing import Any

from django import forms
from django.utils.text import slugify
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from apps.dashboard.forms.curating import CategoryField
from apps.retrieval.models import Plan
from apps.retrieval.policies import SAME, all_policies
from apps.search.algorithms.language import BadQuery, parse
from apps.stories.models import Section
from apps.stories.queries.sections import code_of


class SectionForm(forms.Form):
    title = forms.CharField(max_length=100, label=_("Title"))
    slug = forms.SlugField(
        max_length=50,
        required=False,
        label=_("Name in the address"),
        help_text=_("Lower-case letters, digits and dashes. Leave empty to use the title."),
    )
    query = forms.CharField(
        max_length=1_000,
        required=False,
        label=_("Query"),
        help_text=_(
            "As in search, with quotes, OR and filters. Leave empty for everything in the category or language."
        ),
        widget=forms.TextInput({"dir": "auto", "spellcheck": "false", "autocapitalize": "none"}),
    )
    category = CategoryField(max_length=100, required=False, label=_("Category"))
    language = forms.CharField(
        max_length=20, required=False, label=_("Language"), help_text=_("A code such as en, de or zh.")
    )
    order = forms.ChoiceField(choices=Section.Order.choices, label=_("Order"))
    page_size = forms.IntegerField(min_value=5, max_value=100, initial=30, label=_("On its own page"))
    front_size = forms.IntegerField(
        min_value=0,
        max_value=20,
        initial=6,
        label=_("On the front page"),
        help_text=_("Number of articles or stories; 0 shows only a link at the top."),
    )
    is_on = forms.BooleanField(required=False, initial=True, label=_("Visible to everyone"))

    def __init__(self, *args: Any, section: Section | None = None, **options: Any) -> None:
        if section is not None:
            options["initial"] = {name: getattr(section, name) for name in self.base_fields}
        super().__init__(*args, **options)

    def clean_query(self) -> str:
        query = str(self.cleaned_data["query"])
        try:
            parse(query)
        except BadQuery as error:
            raise forms.ValidationError(str(error)) from error
        return query

    def clean_language(self) -> str:
        language = str(self.cleaned_data["language"]).strip()
        if not language:
            return ""
        try:
            return code_of(language)
        except BadQuery as error:
            raise forms.ValidationError(
                _("There is no language with this code; enter one such as en or zh.")
            ) from error

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors:
            cleaned["slug"] = cleaned["slug"].lower() or slugify(cleaned["title"])[:50].strip("-")
            if not cleaned["slug"]:
                self.add_error("slug", _("The title has no letters that an address can use: enter a name."))
        return cleaned


class RetentionForm(forms.Form):
    category = CategoryField(
        max_length=100, required=False, label=_("Category"), help_text=_("Leave empty for all feeds without a rule.")
    )
    days = forms.IntegerField(
        min_value=0,
        max_value=36_600,
        required=False,
        label=_("Days to keep articles"),
        help_text=_("0 keeps them forever. Leave empty to remove the rule."),
    )


def _policies() -> list[tuple[str, str]]:
    return [(policy.name, gettext(policy.label)) for policy in all_policies().values()]


def _pages_policies() -> list[tuple[str, str]]:
    return [(SAME, gettext("Same as feeds"))] + [
        (policy.name, gettext(policy.label)) for policy in all_policies().values() if policy.for_pages
    ]


class PlanForm(forms.Form):
    policy = forms.ChoiceField(
        choices=_policies,
        label=_("Scheduling policy"),
        help_text=_(
            "The first is Wirebeat's own and has the shortest delay; the others are published policies, for comparison."
        ),
    )
    pages_policy = forms.TypedChoiceField(
        choices=_pages_policies,
        required=False,
        empty_value=None,
        label=_("Pages without a feed"),
        help_text=_("Only a check shows whether they have changed; CAM learns when they do."),
    )
    budget = forms.FloatField(
        min_value=0,
        label=_("Amount"),
        help_text=_("More checks bring news sooner, but put more load on sites."),
    )
    counted = forms.TypedChoiceField(
        choices=Plan.Counted.choices,
        required=False,
        empty_value=None,
        label=_("Counted in"),
        help_text=_("In kilobytes, feeds with large answers are checked less often, and those with small ones more."),
    )
    unit = forms.ChoiceField(choices=Plan.Unit.choices, label=_("Unit"))
    longest_gap = forms.FloatField(
        min_value=1,
        max_value=168,
        label=_("Longest gap, in hours"),
        help_text=_(
            "Every feed is checked after this time, however little is expected of it and whatever its priority."
        ),
    )
    learning_days = forms.IntegerField(
        min_value=2,
        max_value=56,
        required=False,
        label=_("Days to learn from"),
        help_text=_("The published policies learn from the articles of these days how often feeds publish."),
    )
    interest_share = forms.FloatField(
        min_value=0,
        max_value=0.5,
        required=False,
        label=_("Alert priority share"),
        help_text=_(
            "Feeds that match saved searches are checked more often. Any other feed can lose at "
            "most this share of its checks, 0 to 0.5."
        ),
    )
