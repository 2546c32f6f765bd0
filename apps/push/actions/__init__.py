"""The only writers of subscriptions and deliveries. Each may be called twice."""

from apps.push.actions.deliveries import forget_old, receive, work
from apps.push.actions.subscriptions import ask_due, confirm, confirm_cloud, deny, expire, maintain, reconcile
