"""Every table has something that limits it: nothing grows forever unless people made it."""

import tomllib
from pathlib import Path

from django.apps import apps
from django.db.models import Model

SCHEDULE = tomllib.loads((Path(__file__).parents[2] / "portal" / "schedule.toml").read_text(encoding="utf-8"))
TASKS = {entry["task"] for entry in SCHEDULE["schedule"].values()}

POSTINGS = "retrieval.forget_expired_postings"  # by the rules of retention and the quota
# Tables whose rows a task deletes, or that a task rewrites as a whole.
BY_TASK = {
    "postings_posting": POSTINGS,
    "postings_fingerprint": POSTINGS,
    "documents_rawdocument": "documents.tidy_documents",
    "sources_icon": "retrieval.prune_icons",
    "jobs_job": "jobs.forget_old",
    "jobs_split": "jobs.forget_old",
    "jobs_attempt": "jobs.forget_old",
    "jobs_emitted": "jobs.forget_old",
    "following_markedall": "following.forget_undo",
    "following_statechange": "following.join_changes",
    "following_unreadcount": "following.join_changes",
    "following_mark": "following.advance_all",
    "retrieval_retrieval": "retrieval.forget_old_retrievals",
    "retrieval_robotsrules": "retrieval.forget_old_retrievals",
    "retrieval_backtest": "retrieval.backtest",
    "retrieval_sourcechange": "retrieval.replan_changed",
    "retrieval_page": "retrieval.prune_feed_pages",
    "search_outboxrow": "search.consume",
    "search_row": "search.consume",
    "search_document": "search.consume",
    "search_generation": "search.maintain",
    "search_loss": "search.maintain",
    "search_spelledword": "search.learn_spelling",
    "summaries_outboxrow": "summaries.consume",
    "summaries_outline": "summaries.consume",
    "summaries_teaser": "summaries.consume",
    "summaries_summary": "summaries.consume",
    "summaries_vocabulary": "summaries.count_terms",
    "trending_outboxrow": "trending.count",
    "trending_counted": "trending.count",
    "trending_stale": "trending.count",
    "trending_slice": "trending.prune",
    "trending_trend": "trending.refresh",
    "stories_outboxrow": "stories.consume",
    "stories_story": "stories.consume",
    "stories_redirect": "stories.maintain",
    "stories_member": "stories.consume",
    "stories_centroid": "stories.maintain",
    "stories_wordcount": "stories.maintain",
    "stories_reaction": "stories.maintain",
    "websub_subscription": "websub.maintain_subscriptions",
    "websub_delivery": "websub.forget_old_deliveries",
    "feed_health_notice": "feed_health.forget_old",
    "recommendations_likeness": "recommendations.learn_likenesses",
    "recommendations_growth": "recommendations.measure_growth",
    "alerts_outboxrow": "alerts.consume",
    "alerts_revision": "alerts.consume",
    "alerts_hit": "alerts.forget_old_hits",
    "alerts_message": "alerts.forget_old_messages",
    "alerts_attempt": "alerts.forget_old_messages",
    "alerts_relevance": "alerts.weigh_all",
    "account_data_waiting": "account_data.settle",
    "django_session": "accounts.purge_sessions",
    "usersessions_usersession": "accounts.purge_sessions",
}
# As many as a person makes or confirms; they end with the account, and most have a limit for each person.
OF_A_PERSON = {
    "accounts_apptoken",
    "accounts_user_groups",
    "accounts_user_user_permissions",
    "account_emailaddress",
    "account_emailconfirmation",
    "alerts_browser",
    "alerts_destination",
    "alerts_notificationsettings",
    "feed_health_mailsetting",
    "following_folder",
    "following_followedlist",
    "following_follow",
    "following_follow_folders",
    "following_highlight",
    "following_note",
    "following_offlinechange",
    "following_playback",
    "following_reading",
    "following_share",
    "following_tag",
    "following_tagging",
    "mfa_authenticator",
    "newsletters_heldletter",
    "newsletters_newsletter",
    "published_feeds_privateaddress",
    "recommendations_dismissal",
    "search_savedsearch",
    "socialaccount_socialaccount",
    "socialaccount_socialtoken",
    "stories_taste",
    "django_admin_log",
}
# A fixed number for each row of another table, with which they end.
OF_ANOTHER_ROW = {
    "postings_boilerplate": "sources_source",
    "postings_edition": "postings_posting",  # 50 at most
    "sources_formeraddress": "sources_source",
    "retrieval_weeklyprofile": "sources_source",
    "retrieval_schedule": "sources_source",
    "retrieval_crawl": "sources_source",
    "stories_authority": "sources_source",
    "feed_health_condition": "sources_source",
    "alerts_profile": "sources_source",
    "alerts_rule": "search_savedsearch",
    "alerts_percolatorquery": "search_savedsearch",
    "alerts_queryterm": "search_savedsearch",
}
# People add them, or a decision of staff does.
BY_DECISION = {
    "accounts_user",
    "auth_group",
    "auth_group_permissions",
    "auth_permission",
    "django_content_type",
    "jobs_deadletter",  # until staff decides on each
    "socialaccount_socialapp",
    "sources_auditentry",  # the record of decisions is kept
    "sources_retention",
    "sources_source",
    "stories_section",
}
# A few rows, whatever happens.
FEW = {
    "alerts_vapidkey",
    "retrieval_latenessbucket",
    "retrieval_plan",
    "retrieval_unmatchedclaims",
    "retrieval_worker",
    "search_head",
    "stories_head",
}


# The words of all articles that ever were; the more there are, the rarer are new ones.
WORDS = {"search_term"}


def tables() -> dict[str, type[Model]]:
    models = apps.get_models(include_auto_created=True)
    return {model._meta.db_table: model for model in models if model._meta.app_label != "django_celery_beat"}


def owners(table: str) -> set[str]:
    """The tables with whose rows those of a table are deleted."""
    fields = (field for field in tables()[table]._meta.concrete_fields if field.remote_field)
    return {
        field.remote_field.model._meta.db_table
        for field in fields
        if getattr(field.remote_field.on_delete, "__name__", "") == "CASCADE"
    }


def test_something_limits_every_table():
    groups = [set(BY_TASK), OF_A_PERSON, set(OF_ANOTHER_ROW), BY_DECISION, FEW, WORDS]
    named = set().union(*groups)
    assert sum(map(len, groups)) == len(named), "a table stands in two groups"
    assert set(tables()) == named


def test_tasks_that_limit_tables_are_scheduled():
    assert set(BY_TASK.values()) <= TASKS


def test_rows_of_people_end_with_their_account():
    above = {table: owners(table) for table in tables()}

    def is_of_a_person(table: str) -> bool:
        return "accounts_user" in above[table] or any(is_of_a_person(owner) for owner in above[table] - {table})

    assert [table for table in OF_A_PERSON if not is_of_a_person(table)] == []


def test_rows_of_others_end_with_them():
    assert {table for table, owner in OF_ANOTHER_ROW.items() if owner not in owners(table)} == set()
