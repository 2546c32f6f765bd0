from django import forms

from apps.accounts.models import User


class PreferencesForm(forms.ModelForm):
    class Meta:
        model = User
        fields = ["unread_only", "order", "images"]
        labels = {"unread_only": "Show only what is unread", "order": "Order of lists", "images": "Pictures"}
        widgets = {"order": forms.RadioSelect, "images": forms.RadioSelect}
