from django.apps import AppConfig


class FollowingConfig(AppConfig):
    name = "apps.following"
