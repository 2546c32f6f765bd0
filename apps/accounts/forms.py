from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.models import User
from apps.accounts.zones import zone_names


class PreferencesForm(forms.ModelForm):
    time_zone = forms.ChoiceField(
        required=False,
        label="Time zone",
        choices=lambda: [("", "UTC"), *((name, name.replace("_", " ")) for name in zone_names())],
        help_text="In which you read times and days, and in which digests come and nights are quiet.",
    )

    view = forms.ChoiceField(
        required=False, label=_("Layout of lists"), choices=User.View.choices, widget=forms.RadioSelect
    )

    class Meta:
        model = User
        fields = ["unread_only", "mark_on_scroll", "order", "view", "images", "time_zone"]
        labels = {
            "unread_only": "Show only what is unread",
            "mark_on_scroll": _("Mark read while scrolling"),
            "order": "Order of lists",
            "images": "Pictures",
        }
        widgets = {"order": forms.RadioSelect, "images": forms.RadioSelect}

    def clean_view(self) -> str:
        """A form without it leaves it as it is."""
        return self.cleaned_data["view"] or self.instance.view
