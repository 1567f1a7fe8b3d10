import { fileURLToPath } from 'node:url';
import { generateKey } from '@mcp-saga/server';
import { crashEverywhere, testSaga } from '@mcp-saga/testing';
import ts from 'typescript-5';
import { describe, expect, it } from 'vitest';
import { bundleForNode, runBundles } from '../../support/bundle-for-node.ts';
import { start } from '../../support/command.ts';
import { fences, pages, read } from '../markdown.ts';
import { payments } from './bank.ts';
import { refund as careless } from './charge/careless.ts';

const folder = 'test/docs/tutorial';
const shown = pages
  .filter((page) => page.startsWith('docs/tutorial/'))
  .flatMap(fences)
  .map(({ source = '' }) => source);
const files = [...new Set(shown.filter((source) => source.endsWith('.ts')))];
/** The text of a file without space, which printers place in different ways. */
const dense = (text: string): string => text.replaceAll(/[\s;,]/g, '');

const withoutTypes = (text: string): string =>
  ts.transpileModule(text, {
    compilerOptions: {
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
    },
  }).outputText;

describe('the tutorial', () => {
  it('ends each page with the complete files', () => {
    for (const file of ['ask', 'charge', 'undo', 'decide'].flatMap((part) => [
      `${folder}/${part}/refund.ts`,
      `${folder}/${part}/refund.test.ts`,
    ]))
      expect(files).toContain(file);
    expect(files).toEqual(
      expect.arrayContaining([`${folder}/bank.ts`, `${folder}/decide/server.ts`]),
    );
  });

  it('quotes the report of the test kit for a step that does not send its idempotency key', async () => {
    const script = testSaga(careless, { input: { order: 'A7' }, providers: [payments] });
    const error: unknown = await crashEverywhere(script.on.elicit('amount', { euros: 20 })).catch(
      (thrown: unknown) => thrown,
    );
    const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;
    const quoted = read(`${folder}/charge/careless.txt`).trim();
    expect(String(error)).toBe(quoted.replace(uuid, uuid.exec(String(error))?.[0] ?? ''));
  });

  it.each(files.filter((file) => !file.endsWith('/bank.ts')))(
    'has no types in %s, as its pages explain',
    (file) => {
      expect(dense(withoutTypes(read(file)))).toBe(dense(read(file)));
    },
  );

  it('serves the refund, and calls it with its client', async () => {
    const cwd = fileURLToPath(new URL('decide', import.meta.url));
    await bundleForNode(`${folder}/decide/server.ts`, `${folder}/decide/client.ts`);
    // If TEST is set, srvx does not print its address.
    const env = { PORT: '0', SAGA_KEYS: generateKey('k1'), TEST: undefined, REDIS_URL: undefined };
    const server = start(process.execPath, [...runBundles, 'server.ts'], env, cwd);
    try {
      const [, url = ''] = await server.printed(/Listening on: (\S+)/);
      const client = start(process.execPath, [...runBundles, 'client.ts', `${url}mcp`], {}, cwd);
      const { output } = await client.ended;
      expect(output).toContain('Refund how many euros for A7?');
      expect(output).toContain('Refunded 20 EUR for A7.');
    } finally {
      process.kill(server.pid, 'SIGKILL');
      await server.ended;
    }
  });
});
