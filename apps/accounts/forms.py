from django import forms

from apps.accounts.models import User
from apps.accounts.zones import zone_names


class PreferencesForm(forms.ModelForm):
    time_zone = forms.ChoiceField(
        required=False,
        label="Time zone",
        choices=lambda: [("", "UTC"), *((name, name.replace("_", " ")) for name in zone_names())],
        help_text="In which you read times and days, and in which digests come and nights are quiet.",
    )

    class Meta:
        model = User
        fields = ["unread_only", "order", "images", "time_zone"]
        labels = {"unread_only": "Show only what is unread", "order": "Order of lists", "images": "Pictures"}
        widgets = {"order": forms.RadioSelect, "images": forms.RadioSelect}
