"""The plan of all retrievals: what it says, and changes of it, for those who like a terminal."""

from argparse import ArgumentParser
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.table import Table

from apps.retrieval import actions, queries
from apps.retrieval.models import Plan, Schedule, WeeklyProfile
from apps.retrieval.policies import all_policies, pages_policies, policy_of
from apps.sources.actions import By

DAY = timedelta(days=1)


class Command(BaseCommand):
    help = "Show the plan of retrievals, change it, or learn the sources' habits at once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--policy", choices=list(all_policies()))
        parser.add_argument("--pages-policy", choices=pages_policies(), help="of pages without a feed")
        parser.add_argument("--budget", type=float, metavar="RETRIEVALS", help="how many may be made")
        parser.add_argument("--per", choices=[value.replace("_", "-") for value in Plan.Unit.values], help="of budget")
        parser.add_argument("--longest-gap", type=float, metavar="HOURS", help="no source waits longer; 1 to 168")
        parser.add_argument(
            "--interest-share", type=float, metavar="SHARE", help="others may lose to searches; 0 to 0.5"
        )
        parser.add_argument("--learn", action="store_true", help="learn habits and plan all sources anew, now")

    def handle(
        self,
        *args: Any,
        policy: str | None,
        pages_policy: str | None,
        budget: float | None,
        per: str | None,
        longest_gap: float | None,
        interest_share: float | None,
        learn: bool,
        **options: Any,
    ) -> None:
        now = datetime.now(UTC)
        console = Console(file=self.stdout)  # type: ignore[arg-type]  # it can write, which is all that Console needs
        try:
            actions.change_plan(
                by=By("command plan"),
                policy=policy,
                pages_policy=pages_policy,
                budget=budget,
                unit=per and per.replace("-", "_"),
                longest_gap=longest_gap,
                interest_share=interest_share,
            )
        except ValueError as error:
            raise CommandError(str(error)) from None
        if learn:
            learned = actions.learn_profiles(now=now)
            planned = actions.replan_changed(now=now)
            console.print(f"{learned:,} habits learnt, {planned:,} sources planned anew")
        console.print(self._table(now))

    def _table(self, now: datetime) -> Table:
        plan, wanted = actions.current_plan(), queries.wanted()
        hours = min(24.0, (now - plan.changed_at).total_seconds() / 3600)
        since = now - timedelta(hours=hours)
        delays = queries.delays(now - DAY, now)
        table = Table(show_header=False)
        rows = {
            "policy": policy_of(plan.policy).label,
            "pages without a feed": policy_of(plan.policy, plan.pages_policy, pages=True).label,
            "budget": f"{plan.budget:g} retrievals {plan.get_unit_display()}; none waits over {plan.longest_gap:g} h",
            "share for what people search": f"{plan.interest_share:.0%}",
            "price": "not known yet" if plan.price is None else f"{plan.price:.4g} posting-hours per retrieval",
            "habits learnt": "never" if plan.learned_at is None else f"{plan.learned_at:%Y-%m-%d %H:%M} UTC",
            "all sources follow it": "yes" if plan.planned_revision == plan.revision else "not yet: within a minute",
            "sources": f"{wanted.count:,} to be asked, {WeeklyProfile.objects.count():,} with a habit, "
            f"{queries.failing().count():,} failing, {Schedule.objects.filter(due_at=None).count():,} at rest",
            f"retrievals in the last {hours:.1f} h": f"{queries.requests_made(since, now):,} of "
            f"{queries.hourly_budget(plan, wanted) * hours:,.0f} planned",
            "mean delay in the last 24 h": "not measured yet"
            if delays.mean is None
            else f"{delays.mean / 60:.1f} minutes, at most {delays.longest / 3600:.1f} h; {delays.postings:,} postings",
        }
        for row in rows.items():
            table.add_row(*row)
        return table
