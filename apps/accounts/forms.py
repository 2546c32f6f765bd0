from collections.abc import Mapping
from typing import Any

from allauth.account.forms import LoginForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.accounts import actions
from apps.accounts.models import AppToken, User
from apps.accounts.queries.time_zones import zone_names


def _languages() -> list[tuple[str, object]]:
    return [("", _("Browser default")), *settings.LANGUAGES]


def _steps(label: object, steps: Mapping[int, object]) -> forms.ChoiceField:
    return forms.ChoiceField(required=False, label=label, choices=list(steps.items()), widget=forms.RadioSelect)  # type: ignore[arg-type]


class SignInForm(LoginForm):
    """With a label that says what may be entered, in place of "Login"."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = self.fields["login"].widget.attrs["placeholder"]


class AppearanceForm(forms.Form):
    """Choices of visitors, too."""

    language = forms.ChoiceField(required=False, label=_("Language"), choices=_languages, widget=forms.RadioSelect)
    theme = forms.ChoiceField(label=_("Theme"), choices=User.Theme.choices, widget=forms.RadioSelect)
    family = _steps(_("Typeface of articles"), {1: _("Serif"), 2: _("Sans serif")})
    size = _steps(_("Text size"), {1: _("Small"), 2: _("Normal"), 3: _("Large"), 4: _("Larger"), 5: _("Largest")})
    leading = _steps(_("Line spacing"), {1: _("Tight"), 2: _("Normal"), 3: _("Relaxed")})
    width = _steps(_("Text width"), {1: _("Narrow"), 2: _("Normal"), 3: _("Wide")})


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]  # Django's takes none when it runs
    time_zone = forms.ChoiceField(
        required=False,
        label=_("Time zone"),
        choices=lambda: [("", _("Browser default")), *((name, name.replace("_", " ")) for name in zone_names())],
        help_text=_("Used for times and dates, digests and quiet hours."),
    )
    theme = forms.ChoiceField(required=False, label=_("Theme"), choices=User.Theme.choices, widget=forms.RadioSelect)
    language = forms.ChoiceField(required=False, label=_("Language"), choices=_languages)

    view = forms.ChoiceField(required=False, label=_("Layout"), choices=User.View.choices, widget=forms.RadioSelect)

    class Meta:
        model = User
        fields = ["unread_only", "every_copy", "mark_on_scroll", "order", "view"]
        fields += ["images", "theme", "time_zone", "language"]
        labels = {
            "unread_only": _("Unread only"),
            "every_copy": _("Show every copy"),
            "mark_on_scroll": _("Mark as read while scrolling"),
            "order": _("Sort order"),
            "images": _("Images"),
        }
        widgets = {"order": forms.RadioSelect, "images": forms.RadioSelect}

    def clean_view(self) -> str:
        """A form without the field keeps the value."""
        view: str = self.cleaned_data["view"]
        return view or self.instance.view

    def clean_theme(self) -> str:
        theme: str = self.cleaned_data["theme"]
        return theme or self.instance.theme


class AddPasskeyForm(AddWebAuthnForm):
    """Allows signing in without a password by default."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["name"].max_length = self.fields["name"].widget.attrs["maxlength"] = 100
        self.fields["passwordless"].initial = True


class TokenForm(forms.Form):
    name = forms.CharField(
        max_length=actions.MAX_TOKEN_NAME_LENGTH,
        label=_("Name"),
        help_text=_("Of the app or device, so that you recognise it later."),
    )
    scopes = forms.MultipleChoiceField(
        choices=AppToken.Scope.choices,
        initial=AppToken.Scope.values,
        label=_("Permissions"),
        widget=forms.CheckboxSelectMultiple,
    )
    for_fever = forms.BooleanField(
        required=False,
        label=_("For a Fever app"),
        help_text=_(
            "Fever apps sign in with a key made from your username and the token. Other apps do not need this."
        ),
    )
