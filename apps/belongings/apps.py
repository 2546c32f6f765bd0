from django.apps import AppConfig


class BelongingsConfig(AppConfig):
    name = "apps.belongings"
