/** Configuration that tells a client about a server. */
export interface ClientSnippet {
  /** Name of the client, or names of clients with the same configuration. */
  readonly client: string;
  /** File that holds the configuration. */
  readonly file: string;
  readonly text: string;
  /** `true` if the client was seen to finish sagas with this configuration. */
  readonly isTried: boolean;
  /** What else the client needs. */
  readonly note?: string;
}

/** Server that a client connects to. */
export interface SnippetFacts {
  /** Name of the server in the configuration, of any characters. */
  readonly name: string;
  /** Address of the MCP endpoint. */
  readonly url: string;
  /** Absolute path of a program that serves the sagas over stdio. */
  readonly program?: string;
}

/** Lists the configurations of the clients. `docs/start/your-client.md` shows the same ones. */
export function clientSnippets({
  name: given,
  url,
  program = '/path/to/your/stdio-server.ts',
}: SnippetFacts): readonly ClientSnippet[] {
  // Clients put the name into the names of tools, and TOML needs no quotes around it.
  const name = given.replaceAll(/[^\w-]+/g, '-');
  const json = (list: string, entry: object): string =>
    `{\n  "${list}": {\n    "${name}": ${entryText(entry)}\n  }\n}`;
  const codex = [
    `[mcp_servers.${name}]`,
    `url = ${JSON.stringify(url)}`,
    'tool_timeout_sec = 600',
    '',
    '[features]',
    'mcp_2026_07_28 = true',
  ];
  const overStdio = {
    command: 'npx',
    args: ['-y', 'tsx', program],
    env: { SAGA_KEYS: 'k1:…' },
  };
  return [
    {
      client: 'Claude Code',
      file: '.mcp.json',
      text: json('mcpServers', { type: 'http', url }),
      isTried: true,
    },
    { client: 'Codex', file: '~/.codex/config.toml', text: codex.join('\n'), isTried: true },
    {
      client: 'Copilot CLI',
      file: '~/.copilot/mcp-config.json',
      text: json('mcpServers', { type: 'http', url, tools: ['*'] }),
      isTried: true,
    },
    {
      client: 'Gemini CLI',
      file: '~/.gemini/settings.json',
      text: json('mcpServers', { httpUrl: url }),
      isTried: true,
    },
    {
      client: 'Qwen Code',
      file: '~/.qwen/settings.json',
      text: json('mcpServers', { httpUrl: url }),
      isTried: true,
    },
    {
      client: 'opencode',
      file: 'opencode.json',
      text: json('mcp', { type: 'remote', url, timeout: 60_000 }),
      isTried: true,
    },
    {
      client: 'Claude Desktop',
      file: 'claude_desktop_config.json',
      text: json('mcpServers', overStdio),
      isTried: false,
      note: 'It starts a program that serves over stdio, which you write: mcp-saga dev serves HTTP.',
    },
    {
      client: 'VS Code',
      file: '.vscode/mcp.json',
      text: json('servers', { type: 'http', url }),
      isTried: false,
    },
    {
      client: 'Cursor',
      file: '.cursor/mcp.json',
      text: json('mcpServers', { url }),
      isTried: false,
    },
  ];
}

/** Writes a server on one line, or with a line for each member if it has several objects. */
function entryText(entry: object): string {
  if (!('env' in entry)) return lineOf(entry);
  const members = Object.entries(entry).map(([name, value]) => `      "${name}": ${lineOf(value)}`);
  return `{\n${members.join(',\n')}\n    }`;
}

/** Writes JSON on one line, with spaces. */
function lineOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(lineOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `"${name}": ${lineOf(member)}`);
  return `{ ${members.join(', ')} }`;
}
