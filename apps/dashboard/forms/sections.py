"""The form of a section of the front page."""

from collections.abc import Collection
from typing import Any

from django import forms
from django.conf import settings
from django.utils.text import slugify
from django.utils.translation import gettext_lazy as _

from apps.search.algorithms.language import BadQuery, parse
from apps.stories.models import Section
from apps.stories.queries.sections import code_of

TITLE = "title_"  # prefix of the fields of titles in other languages


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
    category = forms.CharField(max_length=100, required=False, label=_("Category"))
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
            titles = {TITLE + code: title for code, title in section.titles.items()}
            options["initial"] = {name: getattr(section, name) for name in self.base_fields} | titles
        super().__init__(*args, **options)
        self.fields["category"].widget.attrs["list"] = "known-categories"
        others = {
            TITLE + code: forms.CharField(
                max_length=100, required=False, label=_("Title in %(language)s") % {"language": name}
            )
            for code, name in other_languages()
        }
        fields = dict(self.fields)
        self.fields = {"title": fields.pop("title"), **others, **fields}

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

    def values(self) -> dict[str, Any]:
        """The values of a valid form."""
        given = self.cleaned_data
        titles = {code: given[TITLE + code] for code, _name in other_languages() if given.get(TITLE + code)}
        names = set(self.base_fields)
        return {"titles": titles} | {name: value for name, value in given.items() if name in names}


def other_languages() -> Collection[tuple[str, str]]:
    """The interface's languages other than the default, with their native names."""
    return [(code, name) for code, name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
