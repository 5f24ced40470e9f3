"""Makes calls to an MCP server with the official client library, and prints what it answers as JSON.

stdin: {"server": {"command", "args", "env", "cwd"}, "mode": "auto" or "legacy", "calls": [[tool, arguments], ...]}
"""

import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters


async def called(client, tool, arguments):
    try:
        return (await client.call_tool(tool, arguments)).model_dump(mode="json", by_alias=True)
    except MCPError as error:
        return {"protocolError": str(error)}


async def main():
    task = json.load(sys.stdin)
    async with Client(StdioServerParameters(**task["server"]), mode=task["mode"]) as client:
        tools = (await client.list_tools()).tools
        results = [await called(client, tool, arguments) for tool, arguments in task["calls"]]
        answer = {
            "protocol": client.protocol_version,
            "instructions": client.instructions,
            "tools": [tool.model_dump(mode="json", by_alias=True) for tool in tools],
            "results": results,
        }
    print(json.dumps(answer))


asyncio.run(main())
