"""The only writers of subscriptions and deliveries; all are idempotent."""

from apps.websub.actions.deliveries import forget_old, receive, work
from apps.websub.actions.subscriptions import confirm, confirm_cloud, deny, maintain
