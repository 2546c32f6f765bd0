"""The only writers of subscriptions and deliveries. Each may be called twice."""

from apps.websub.actions.deliveries import forget_old, receive, work
from apps.websub.actions.subscriptions import ask_due, confirm, confirm_cloud, deny, expire, maintain, reconcile
