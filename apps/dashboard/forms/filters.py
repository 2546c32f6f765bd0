"""The filter of the list of sources."""

from django import forms

from apps.dashboard.queries import SORTS, SourceFilter
from apps.sources.models import Source


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
