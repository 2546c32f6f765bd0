"""The only writers of the plan, of profiles, schedules and the log of retrievals; all are idempotent."""

from apps.retrieval.actions.adding import Discovery, NoDocument, TooOften, discover, fetch_document, source_or_lookup
from apps.retrieval.actions.backtesting import backtest
from apps.retrieval.actions.claiming import heartbeat, release_worker, start
from apps.retrieval.actions.crawling import begin_batch, change_crawl, decide_page, set_keen_tags, store_batch
from apps.retrieval.actions.expiry import forget_expired
from apps.retrieval.actions.extraction import (
    add_linked,
    extract_again,
    links_again,
    merged,
    train_keen_tags,
    write_extracted,
)
from apps.retrieval.actions.learning import learn_if_due, learn_profiles
from apps.retrieval.actions.pages import prune_feed_pages
from apps.retrieval.actions.plan import change_plan, control_price, current_plan
from apps.retrieval.actions.planning import (
    BEING_CHECKED,
    adopt_sources,
    forget_answers,
    forget_old_retrievals,
    forget_validators,
    lock_sources,
    remember_robots,
    request_announced_check,
    request_check,
)
from apps.retrieval.actions.refreshing import refresh
from apps.retrieval.actions.replanning import replan, replan_changed
from apps.retrieval.actions.storing import set_push_lease, store, store_sent
