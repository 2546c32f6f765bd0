"""The only writer of what people prefer; allauth writes the rest of an account."""

from apps.accounts.models import User


def set_preferences(
    user: User,
    *,
    unread_only: bool,
    order: User.Order,
    images: User.Images,
    time_zone: str = "",
    theme: User.Theme = User.Theme.AUTO,
    language: str = "",
) -> None:
    User.objects.filter(pk=user.pk).update(
        unread_only=unread_only, order=order, images=images, time_zone=time_zone, theme=theme, language=language
    )


def set_looks(user: User, *, theme: User.Theme, language: str) -> None:
    User.objects.filter(pk=user.pk).update(theme=theme, language=language)
