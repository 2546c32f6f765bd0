"""Forms of a saved search's rule, and of notification settings."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.queries.site import sends_mail
from apps.alerts.channels import with_settings
from apps.alerts.models import NotificationSettings, PercolatorQuery, Rule


class RuleForm(forms.Form):
    mark_read = forms.BooleanField(required=False, label=_("Mark as read"))
    star = forms.BooleanField(required=False, label=_("Star"))
    hide = forms.BooleanField(required=False, label=_("Hide, and show fewer like it under “For you”"))
    tag = forms.CharField(required=False, max_length=50, label=_("Add tag"))
    mail = forms.ChoiceField(required=False, choices=Rule.Mail.choices, label=_("Mail"), widget=forms.RadioSelect)
    push = forms.BooleanField(required=False, label=_("Browser notifications"))
    webhook_url = forms.CharField(
        required=False,
        max_length=2_000,
        label=_("Webhook"),
        help_text=_("An address that receives a signed JSON POST for new articles."),
        widget=forms.TextInput(attrs={"inputmode": "url", "autocapitalize": "none", "spellcheck": "false"}),
    )
    importance = forms.FloatField(
        min_value=0,
        max_value=10,
        label=_("Priority"),
        help_text=_(
            "Feeds that match this search are checked more often. 1 is normal, 0 has no effect. "
            "All your searches together count at most as much as ten normal ones."
        ),
        widget=forms.NumberInput(attrs={"step": "0.5"}),
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields |= {channel.name: channel.field() for channel in with_settings() if channel.field}
        if not sends_mail():
            self.fields["mail"].help_text = _(
                "This portal cannot send mail: its administrator has to set up a mail server first."
            )

    @staticmethod
    def values_of(rule: Rule | None, query: PercolatorQuery | None) -> dict[str, Any]:
        """Initial values of a search's form."""
        given = ("mark_read", "star", "hide", "tag", "mail", "push", "webhook_url")
        values = {name: getattr(rule, name) for name in given} | rule.settings if rule else {}
        return values | {"importance": f"{query.importance:g}" if query else "1"}


class NotificationSettingsForm(forms.Form):
    quiet_from = forms.TimeField(
        required=False,
        label=_("Quiet from"),
        help_text=_("Messages during quiet hours are sent when these end. Webhooks are always called immediately."),
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
    )
    quiet_until = forms.TimeField(
        required=False, label=_("Quiet until"), widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M")
    )
    digest_hour = forms.TypedChoiceField(
        choices=[(hour, f"{hour}:00") for hour in range(24)], coerce=int, label=_("Daily digest at")
    )
    most_a_day = forms.IntegerField(
        min_value=0,
        max_value=1_000,
        label=_("Mails and browser notifications per day, at most"),
        help_text=_("The rest comes with the next daily digest."),
    )

    @staticmethod
    def values_of(settings: NotificationSettings | None) -> dict[str, Any]:
        settings = settings or NotificationSettings()
        return {name: getattr(settings, name) for name in NotificationSettingsForm.base_fields}
