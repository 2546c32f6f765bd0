from typing import Any

from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.accounts import actions
from apps.accounts.models import AppToken, User
from apps.accounts.zones import zone_names


def _languages() -> list[tuple[str, object]]:
    return [("", _("As the browser asks")), *settings.LANGUAGES]


class LooksForm(forms.Form):
    """What also somebody who is not signed in may choose."""

    language = forms.ChoiceField(required=False, label=_("Language"), choices=_languages, widget=forms.RadioSelect)
    theme = forms.ChoiceField(label=_("Colours"), choices=User.Theme.choices, widget=forms.RadioSelect)


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's takes none when it runs
    time_zone = forms.ChoiceField(
        required=False,
        label=_("Time zone"),
        choices=lambda: [("", "UTC"), *((name, name.replace("_", " ")) for name in zone_names())],
        help_text=_("In which you read times and days, and in which digests come and nights are quiet."),
    )
    theme = forms.ChoiceField(required=False, label=_("Colours"), choices=User.Theme.choices, widget=forms.RadioSelect)
    language = forms.ChoiceField(required=False, label=_("Language"), choices=_languages)

    view = forms.ChoiceField(
        required=False, label=_("Layout of lists"), choices=User.View.choices, widget=forms.RadioSelect
    )

    class Meta:
        model = User
        fields = ["unread_only", "mark_on_scroll", "order", "view", "images", "theme", "time_zone", "language"]
        labels = {
            "unread_only": _("Show only what is unread"),
            "mark_on_scroll": _("Mark read while scrolling"),
            "order": _("Order of lists"),
            "images": _("Pictures"),
        }
        widgets = {"order": forms.RadioSelect, "images": forms.RadioSelect}

    def clean_view(self) -> str:
        """A form without it leaves it as it is."""
        view: str = self.cleaned_data["view"]
        return view or self.instance.view

    def clean_theme(self) -> str:
        theme: str = self.cleaned_data["theme"]
        return theme or self.instance.theme


class AddPasskeyForm(AddWebAuthnForm):
    """A key that one can sign in with alone, unless said otherwise: that is what people add one for."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["name"].max_length = self.fields["name"].widget.attrs["maxlength"] = 100
        self.fields["passwordless"].initial = True


class TokenForm(forms.Form):
    name = forms.CharField(
        max_length=actions.LONGEST_TOKEN_NAME,
        label=_("Name"),
        help_text=_("Of the program or the device, by which you will know it again."),
    )
    scopes = forms.MultipleChoiceField(
        choices=AppToken.Scope.choices,
        initial=AppToken.Scope.values,
        label=_("It may"),
        widget=forms.CheckboxSelectMultiple,
    )
    for_fever = forms.BooleanField(
        required=False,
        label=_("For a program that speaks Fever"),
        help_text=_("Such programs sign in by a key that they make of your name and the token. Others need none."),
    )


class InvitationForm(forms.Form):
    note = forms.CharField(
        max_length=actions.LONGEST_NOTE,
        required=False,
        label=_("Whom it is for"),
        help_text=_("Only the staff sees it."),
    )
    days = forms.IntegerField(
        min_value=1, max_value=actions.LONGEST_INVITATION, initial=7, label=_("Days for which it can be used")
    )
