"""A real Python client: connects, lists, calls, closes as its SDK closes.

    python close.py mcp|fastmcp CALLS COMMAND ARGS...

Prints "closed" when everything is closed.
"""

import asyncio
import sys


async def use(client, calls: int, list_tools, text) -> None:
    tools = await list_tools()
    if len(tools) != 1:
        raise SystemExit(f"{len(tools)} tools")
    for n in range(calls):
        got = text(await client.call_tool("echo", {"n": n}))
        if got != str(n):
            raise SystemExit(f"call {n}: {got!r}")


async def with_mcp(calls: int, command: str, args: list[str]) -> None:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=command, args=args)
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()

        async def list_tools():
            return (await session.list_tools()).tools

        await use(session, calls, list_tools, lambda result: result.content[0].text)


async def with_fastmcp(calls: int, command: str, args: list[str]) -> None:
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport

    transport = StdioTransport(command=command, args=args, keep_alive=False)
    async with Client(transport) as client:
        await use(client, calls, client.list_tools, lambda result: result.content[0].text)


def main() -> None:
    kind, calls, command, *args = sys.argv[1:]
    run = {"mcp": with_mcp, "fastmcp": with_fastmcp}[kind]
    asyncio.run(run(int(calls), command, args))
    print("closed")


main()
