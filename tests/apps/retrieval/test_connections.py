"""Connections are shared: neither kind of request and no slow server takes all of them."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from apps.retrieval.http.connections import Connections, Limits, Preempted

SLOW_AFTER = 0.02  # s
NEVER = 60.0  # s


async def hold(connections: Connections, seconds: float, *, first: bool = False) -> str:
    try:
        async with connections.take(first=first):
            await asyncio.sleep(seconds)
    except Preempted:
        return "gave way"
    return "done"


def run(scenario: Callable[[Connections], Awaitable[None]], limits: Limits) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(30):
            await scenario(Connections(limits))

    asyncio.run(bounded())


@pytest.mark.parametrize("first", [True, False])
def test_one_kind_of_request_leaves_the_share_of_the_other_alone(first):
    async def scenario(connections: Connections) -> None:
        holding = [asyncio.create_task(hold(connections, NEVER, first=first)) for _ in range(10)]
        await asyncio.sleep(0)
        assert await hold(connections, 0, first=not first) == "done"
        for task in holding:
            task.cancel()

    run(scenario, Limits(due=2, first=2, slow_after=NEVER))


def test_servers_that_never_answer_do_not_keep_others_waiting():
    async def scenario(connections: Connections) -> None:
        silent = [asyncio.create_task(hold(connections, NEVER)) for _ in range(6)]
        assert [await hold(connections, 0) for _ in range(10)] == ["done"] * 10
        for task in silent:
            task.cancel()
        await asyncio.wait(silent)

    run(scenario, Limits(due=2, first=2, slow=100, slow_after=SLOW_AFTER))


def test_where_too_many_are_slow_the_slowest_gives_way():
    async def scenario(connections: Connections) -> None:
        silent = []
        for _ in range(5):
            silent.append(asyncio.create_task(hold(connections, NEVER)))
            await asyncio.sleep(3 * SLOW_AFTER)
        assert [task.result() if task.done() else "holds" for task in silent] == ["gave way"] * 3 + ["holds"] * 2
        for task in silent:
            task.cancel()
        await asyncio.wait(silent)

    run(scenario, Limits(due=1, first=1, slow=2, slow_after=SLOW_AFTER))


def test_every_slot_comes_back_however_a_request_ends():
    async def fail(connections: Connections) -> None:
        with pytest.raises(TimeoutError):  # noqa: PT012 - the timeout ends the block
            async with connections.take(first=False):
                async with asyncio.timeout(SLOW_AFTER / 2):
                    await asyncio.sleep(NEVER)

    async def scenario(connections: Connections) -> None:
        for _ in range(5):
            await fail(connections)
            cancelled = asyncio.create_task(hold(connections, NEVER))
            await asyncio.sleep(0)
            cancelled.cancel()
            await asyncio.wait([cancelled])
            assert await hold(connections, 2 * SLOW_AFTER) == "done"  # among the slow ones
            assert await hold(connections, 0) == "done"

    run(scenario, Limits(due=1, first=1, slow=2, slow_after=SLOW_AFTER))
