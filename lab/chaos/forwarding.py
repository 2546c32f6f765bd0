"""Forwards connections between hosts (network namespaces): `python -m lab.chaos.forwarding 8700=/run/8700.sock` listens
at a port of this host and connects to a socket, `/run/8700.sock=8700` the other way round."""

import asyncio
import sys
from contextlib import suppress

from lab.chaos.rabbitmq import HOST

CHUNK = 2**16  # bytes

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _connect(target: str) -> Streams:
    return await (asyncio.open_connection(HOST, int(target)) if target.isdecimal() else _connect_socket(target))


async def _connect_socket(target: str) -> Streams:
    return await asyncio.open_unix_connection(target)


async def _pass_on(target: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        further_reader, further_writer = await _connect(target)
        await asyncio.gather(_copy(reader, further_writer), _copy(further_reader, writer))
    writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()
    with suppress(OSError):
        writer.close()


async def _serve(routes: list[str]) -> None:
    for route in routes:
        source, _, target = route.partition("=")

        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: str = target) -> None:
            await _pass_on(target, reader, writer)

        if source.isdecimal():
            await asyncio.start_server(accept, HOST, int(source))
        else:
            await asyncio.start_unix_server(accept, source)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1:]))
