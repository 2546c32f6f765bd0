"""The only writer of what people prefer; allauth writes the rest of an account."""

from apps.accounts.models import User


def set_preferences(
    user: User,
    *,
    unread_only: bool,
    order: User.Order,
    images: User.Images,
    view: User.View,
    mark_on_scroll: bool,
    time_zone: str = "",
) -> None:
    User.objects.filter(pk=user.pk).update(
        unread_only=unread_only,
        order=order,
        images=images,
        view=view,
        mark_on_scroll=mark_on_scroll,
        time_zone=time_zone,
    )


def set_view(user: User, view: User.View) -> None:
    """Lay out lists so from now on."""
    User.objects.filter(pk=user.pk).update(view=view)


def set_active(user_id: int, *, active: bool) -> bool:
    """Let somebody sign in, or not: then their sessions end at their next request. Whether that was otherwise."""
    return bool(User.objects.filter(pk=user_id, is_active=not active).update(is_active=active))
