from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.timezone import now

from apps.account_data import actions
from apps.accounts.actions import NotPossible
from apps.accounts.models import User


@admin.register(User)
class PersonAdmin(UserAdmin):  # type: ignore[type-arg]  # Django's takes none when it runs
    """Deletes users by the same action as users themselves."""

    fieldsets = (*(UserAdmin.fieldsets or ()), ("Reading", {"fields": ("unread_only", "order", "images")}))

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        try:
            actions.delete_account(obj, now=now())
        except NotPossible as problem:
            self.message_user(request, str(problem), messages.ERROR)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            self.delete_model(request, user)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Lists users alone, and not their hundred thousand marks."""
        people = [str(each) for each in objs]
        return [f"{name}, and everything that is theirs" for name in people], {"people": len(people)}, set(), []
