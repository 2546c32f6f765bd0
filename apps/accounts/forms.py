from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.accounts.zones import zone_names


def _languages() -> list[tuple[str, object]]:
    return [("", _("As the browser asks")), *settings.LANGUAGES]


class LooksForm(forms.Form):
    """What also somebody who is not signed in may choose."""

    language = forms.ChoiceField(required=False, label=_("Language"), choices=_languages, widget=forms.RadioSelect)
    theme = forms.ChoiceField(label=_("Colours"), choices=User.Theme.choices, widget=forms.RadioSelect)


class PreferencesForm(forms.ModelForm):
    time_zone = forms.ChoiceField(
        required=False,
        label=_("Time zone"),
        choices=lambda: [("", "UTC"), *((name, name.replace("_", " ")) for name in zone_names())],
        help_text=_("In which you read times and days, and in which digests come and nights are quiet."),
    )
    theme = forms.ChoiceField(required=False, label=_("Colours"), choices=User.Theme.choices, widget=forms.RadioSelect)
    language = forms.ChoiceField(required=False, label=_("Language"), choices=_languages)

    class Meta:
        model = User
        fields = ["unread_only", "order", "images", "time_zone", "theme", "language"]
        labels = {
            "unread_only": _("Show only what is unread"),
            "order": _("Order of lists"),
            "images": _("Pictures"),
        }
        widgets = {"order": forms.RadioSelect, "images": forms.RadioSelect}

    def clean_theme(self) -> str:
        theme: str = self.cleaned_data["theme"]
        return theme or self.instance.theme
