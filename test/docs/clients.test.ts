import { expect, it } from 'vitest';
import { clientSnippets } from 'mcp-saga/internal';
import { hosts } from '../hosts/hosts.ts';
import { read } from './markdown.ts';

const page = read('docs/start/your-client.md');
const snippet = (file: string): string => read(`test/docs/clients/${file}`);
const driver = (name: string): string => read(`test/hosts/drivers/${name}.ts`);
const url = 'http://127.0.0.1:3000/mcp';

/** An entry as TypeScript writes it: `type: 'http', url: serverUrl`. */
function asInDriver(entry: object): readonly string[] {
  return Object.entries(entry).map(([name, value]) => {
    if (value === url) return `${name}: serverUrl`;
    return `${name}: ${JSON.stringify(value).replaceAll('"', "'").replace('60000', '60_000')}`;
  });
}

it.each([
  ['claude-code.json', 'mcpServers', 'claude-code'],
  ['copilot-cli.json', 'mcpServers', 'copilot-cli'],
  ['gemini-cli.json', 'mcpServers', 'gemini-cli'],
  ['gemini-cli.json', 'mcpServers', 'qwen-code'],
  ['opencode.json', 'mcp', 'opencode'],
])(
  'the page on clients shows in %s, under `%s`, what the driver of %s writes',
  (file, key, name) => {
    const { orders } = (JSON.parse(snippet(file)) as Record<string, { readonly orders: object }>)[
      key
    ]!;
    const text = driver(name);
    expect(text).toMatch(new RegExp(`\\b${key}: \\{ sagas: \\{`));
    expect(asInDriver(orders).filter((member) => !text.includes(member))).toEqual([]);
  },
);

const snippets = clientSnippets({ name: 'orders', url, program: '/home/ada/orders/server.ts' });

it.each(snippets)(
  'the page on clients shows the configuration of $client that `mcp-saga dev` prints',
  ({ client, file, text, isTried }) => {
    const [tried = '', untried = ''] = page.split('## Claude Desktop, VS Code, and Cursor');
    const part = isTried ? tried : untried;
    const [, fenced = ''] = part.slice(part.indexOf(file)).split(/^```\w*$/m);
    expect(part).toContain(client);
    expect(part).toContain(file);
    expect(fenced.trim()).toBe(text);
  },
);

it('mcp-saga dev lists the clients of the page, each host that `pnpm hosts` drives among them', () => {
  const tried = snippets.filter(({ isTried }) => isTried).map(({ client }) => client);
  const driven = hosts.map(({ title }) => title.replace(/ app-server.*$/, ''));
  expect(new Set(tried)).toEqual(new Set(driven));
});

it('the page on clients shows the lines of Codex that its driver writes', () => {
  const lines = snippet('codex.toml').replace('orders', 'sagas').replace(url, '${serverUrl}');
  const text = driver('codex').replaceAll('\\n', '\n');
  expect(lines.split('\n').filter((line) => !text.includes(line))).toEqual([]);
});

it.each(['claude-desktop.json', 'vs-code.json', 'cursor.json'])(
  'the page on clients shows %s, which is JSON, as not tried',
  (file) => {
    expect(Object.values(JSON.parse(snippet(file)) as object)).toMatchObject([{ orders: {} }]);
    const [, untried = ''] = page.split('## Claude Desktop, VS Code, and Cursor');
    expect(untried.split('\n## ')[0]).toContain(`test/docs/clients/${file}`);
    expect(untried).toMatch(/^\s*(?:\S+ ){0,12}not tried/);
  },
);

it('the page on clients has a section for each host that `pnpm hosts` drives', () => {
  const headings = page.match(/^### .*$/gm)?.join('\n') ?? '';
  const names = hosts.map(({ title }) => title.replace(/ app-server.*$/, ''));
  expect(names.filter((name) => !headings.includes(name))).toEqual([]);
});
