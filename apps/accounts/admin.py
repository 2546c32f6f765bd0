from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from apps.accounts.models import User


@admin.register(User)
class PersonAdmin(UserAdmin):
    fieldsets = (*(UserAdmin.fieldsets or ()), ("Reading", {"fields": ("unread_only", "order", "images")}))
