"""Forms to filter sources and the change log, and to edit many sources at once."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from apps.dashboard.queries import SORTS, SourceFilter
from apps.database.statements import MAX_ID
from apps.sources.actions.curating import Curation
from apps.sources.models import AuditEntry, Source
from apps.sources.queries import AuditFilter
from apps.web.algorithms.numbers import whole_number

NONE = "-"  # typed to remove a value


class CategoryField(forms.CharField):
    """It suggests the categories of the page's `datalist`."""

    widget = forms.TextInput({"list": "known-categories"})


class CurationForm(forms.Form):
    """Changes of the chosen sources; empty fields change nothing."""

    category = CategoryField(
        max_length=100, required=False, label=_("Category"), help_text=_("Leave empty to keep it. A dash removes it.")
    )
    language = forms.CharField(
        max_length=20,
        required=False,
        label=_("Language"),
        help_text=_("A code such as en or pt-br. Leave empty to keep it. A dash removes it."),
    )
    listed = forms.ChoiceField(
        required=False,
        label=_("Visible to"),
        choices=[("", _("unchanged")), ("yes", _("everyone, in the catalogue")), ("no", _("followers only"))],
    )
    weight = forms.FloatField(
        min_value=0, max_value=1_000, required=False, label=_("Weight"), help_text=_("Leave empty to keep it.")
    )
    expiry_days = forms.RegexField(
        r"^(-|\d{1,5})$",
        required=False,
        label=_("Days to keep articles"),
        help_text=_("0 keeps them forever. Leave empty to keep the setting. A dash removes it: the category decides."),
    )
    state = forms.ChoiceField(
        required=False,
        label=_("State"),
        choices=[("", _("unchanged")), ("paused", _("paused")), ("active", _("active"))],
    )
    why = forms.CharField(max_length=300, required=False, label=_("Reason"), help_text=_("Recorded in the change log."))

    def clean_language(self) -> str:
        language = str(self.cleaned_data["language"]).strip().lower()
        if language not in ("", NONE) and not all(part.isalnum() and part.isascii() for part in language.split("-")):
            raise forms.ValidationError(_("Enter the language as a code, such as en or pt-br."))
        return language

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if not self.errors and self.curation().is_nothing:
            raise forms.ValidationError(_("Choose at least one change."))
        return cleaned

    def curation(self) -> Curation:
        """The values of a valid form."""
        given = self.cleaned_data
        listed, state, days = given.get("listed"), given.get("state"), given.get("expiry_days")
        return Curation(
            category=_typed(given.get("category", "")),
            language=_typed(given.get("language", "")),
            listed=None if not listed else listed == "yes",
            weight=given.get("weight"),
            expiry_days=None if not days else -1 if days == NONE else int(days),
            state=Source.State(state) if state else None,
        )


def _typed(text: str) -> str | None:
    """None for no change, empty to remove.

    >>> _typed(""), _typed("-"), _typed(" News ")
    (None, '', 'News')
    """
    text = text.strip()
    return None if not text else "" if text == NONE else text


class SourceFilterForm(forms.Form):
    """The query string of the list of sources; invalid values are ignored."""

    words = forms.CharField(required=False, max_length=200)
    state = forms.ChoiceField(required=False, choices=Source.State.choices)
    category = forms.CharField(required=False, max_length=100)
    language = forms.CharField(required=False, max_length=20)
    shown = forms.ChoiceField(required=False, choices=[("listed", "listed"), ("unlisted", "unlisted")])
    failing = forms.BooleanField(required=False)
    sort = forms.ChoiceField(required=False, choices=[(name, name) for name in SORTS])

    def filter(self) -> SourceFilter:
        self.is_valid()
        return SourceFilter(**{name: value for name, value in self.cleaned_data.items() if value})


class AuditFilterForm(forms.Form):
    """The query string of the change log; invalid values are ignored."""

    words = forms.CharField(required=False, max_length=200)
    what = forms.ChoiceField(required=False, choices=AuditEntry.What.choices)
    who = forms.CharField(required=False, max_length=150)
    source_id = forms.IntegerField(required=False, min_value=1, max_value=MAX_ID)

    def filter(self) -> AuditFilter:
        self.is_valid()
        return AuditFilter(**{name: value for name, value in self.cleaned_data.items() if value})


def chosen_ids(given: QueryDict, most: int) -> list[int]:
    """The sources in a form, one by one or all in one field; at most one more than `most`.

    >>> chosen_ids(QueryDict("source=3&source=x&source=3&chosen=5,7"), 10), chosen_ids(QueryDict("chosen=1,2,3"), 1)
    ([3, 5, 7], [1, 2])
    """
    words = [*given.getlist("source"), *given.get("chosen", "").split(",")]
    return list(dict.fromkeys(filter(None, map(whole_number, words))))[: most + 1]
