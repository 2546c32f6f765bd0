from django.contrib import admin
from django.http import HttpRequest

from apps.jobs.models import DeadLetter


@admin.register(DeadLetter)
class DeadLetterAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # Django's takes none when it runs
    """Dead letters for inspection, and deletion once their cause is known."""

    list_display = ("task", "set_aside_at", "tries", "reason")
    list_filter = ("task",)
    readonly_fields = ("id", "task", "content", "tries", "first_at", "last_at", "set_aside_at", "reason")
    ordering = ("-last_at",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
