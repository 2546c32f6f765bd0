from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.http import HttpRequest

from apps.accounts.models import AppToken, Invitation, User


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]  # Django's takes none when it runs
    fieldsets = (*(UserAdmin.fieldsets or ()), ("Reading", {"fields": ("unread_only", "order", "images")}))


class MadeElsewhere(admin.ModelAdmin):  # type: ignore[type-arg]
    """Can be viewed and deleted here; its own page creates it and shows the secret once."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(AppToken)
class AppTokenAdmin(MadeElsewhere):
    list_display = ("name", "user", "scopes", "hint", "made_at", "last_used_at")
    search_fields = ("name", "user__username")
    exclude = ("digest", "fever_key")


@admin.register(Invitation)
class InvitationAdmin(MadeElsewhere):
    list_display = ("note", "made_by", "made_at", "expires_at", "used_at", "used_by")
    list_filter = ("used_at",)
    exclude = ("digest",)
