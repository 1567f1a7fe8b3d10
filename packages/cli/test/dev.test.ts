import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startSaga, type ClientTurn } from '@mcp-saga/client';
import { checkpoint, createSagaHost, generateKey, saga } from '@mcp-saga/server';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { clientSnippets } from '../src/studio/client-snippets.ts';
import type { StudioState } from '../src/studio.ts';
import { bundlePackages } from '../../../test/support/bundle-for-node.ts';
import { isRunning, root, start, type Command } from '../../../test/support/command.ts';
import { longestWait } from '../../../test/support/patience.ts';
import { startInTerminal } from '../../../test/support/terminal.ts';
import { bin, fixture, run } from './command-line.ts';
import { keys } from './fixtures/sagas.ts';

const running: Command[] = [];
beforeAll(bundlePackages);
afterEach(async () => {
  for (const { pid } of running) if (isRunning(pid)) process.kill(pid, 'SIGINT');
  await Promise.all(running.splice(0).map(({ ended }) => ended));
});

/** Makes the folder of a project. */
function newProject(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-'));
  symlinkSync(
    fileURLToPath(new URL('../node_modules', import.meta.url)),
    join(folder, 'node_modules'),
  );
  for (const [name, text] of Object.entries({ 'package.json': '{"type":"module"}', ...files }))
    writeFileSync(join(folder, name), text);
  return folder;
}

const withoutKeys = { SAGA_KEYS: undefined, NODE_ENV: undefined };

/** Starts `mcp-saga dev`, and waits for the URL. */
async function startDev(
  ...args: readonly string[]
): Promise<{ readonly dev: Command; readonly url: string }> {
  return await devFrom(bin, ...args);
}

async function devFrom(
  program: readonly string[],
  ...args: readonly string[]
): Promise<{ readonly dev: Command; readonly url: string }> {
  const dev = start(process.execPath, [...program, 'dev', '--port', '0', ...args], withoutKeys);
  running.push(dev);
  const [url = ''] = await dev.printed(/(?<=serving .* at |"url":")http[^\s"]+/);
  return { dev, url };
}

async function connect(url: string): Promise<Client> {
  const client = new Client(
    { name: 'tester', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'auto' } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return client;
}

function suspended(turn: ClientTurn): Extract<ClientTurn, { status: 'suspended' }>['saga'] {
  if (turn.status !== 'suspended') throw new Error('The saga did not ask');
  return turn.saga;
}

const yes = { stepId: 'confirm', result: { action: 'accept', content: { sure: true } } } as const;

const refund = `
import { elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
import { code } from './code.ts';

export const refund = saga({ name: 'refund', version: '1', reuse: 'ok' }, function* () {
  yield* elicit('confirm', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
  return yield* step('pay-back', () => code);
});
`;

const elsewhere = saga({ name: 'elsewhere', version: '1', reuse: 'ok' }, function* () {
  yield* checkpoint();
  return 'done';
});

const endless = "console.log('loading'); for (;;);";

/** Replaces what differs from run to run. */
function normalized(output: string): string {
  return output
    .replaceAll(/^\d\d:\d\d:\d\d/gm, 'TIME')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/refund [\w-]{6} /g, 'refund ID ')
    .replaceAll(/\d+ bytes/g, 'N bytes')
    .replaceAll(/\d+ ms/g, 'N ms');
}

/** The rest of a saga that asks a manager, and prints the link. */
const asksManager = `{
  const { approved } = yield* approval('manager', {
    message: 'Approve?',
    link: 'accept',
    timeout: 60_000,
    deliver: ({ url }) => console.log('LINK ' + url),
  });
  return approved ? 'approved' : 'denied';
});`;

describe('mcp-saga dev', () => {
  it('continues an open saga with changed code, and serves the old code while the new code fails', async () => {
    const folder = newProject({ 'sagas.ts': refund, 'code.ts': "export const code = 'old code';" });
    const { dev, url } = await startDev(join(folder, 'sagas.ts'));
    const client = await connect(url);
    const ended = async (open: ClientTurn): Promise<unknown> => {
      const turn = await suspended(open).resume([yes]);
      return turn.status === 'completed' ? turn.result.content : turn.status;
    };
    const [first, second] = [
      await startSaga(client, { name: 'refund' }),
      await startSaga(client, { name: 'refund' }),
    ];
    expect(await ended(first)).toEqual([{ type: 'text', text: 'old code' }]);
    writeFileSync(join(folder, 'code.ts'), "export const code = 'new code';");
    await dev.printed(/reloaded/);
    expect(await ended(second)).toEqual([{ type: 'text', text: 'new code' }]);
    writeFileSync(join(folder, 'code.ts'), 'export const code = ;');
    await dev.printed(/the new code fails/);
    expect(await ended(await startSaga(client, { name: 'refund' }))).toEqual([
      { type: 'text', text: 'new code' },
    ]);
    writeFileSync(join(folder, 'code.ts'), "export const code = 'mended code';");
    await dev.printed(/reloaded[^]*reloaded/);
    expect(await ended(await startSaga(client, { name: 'refund' }))).toEqual([
      { type: 'text', text: 'mended code' },
    ]);
    await client.close();
    // The output may arrive after the response.
    await dev.printed(/(?:  completed  .*\n[^]*?){3}/);
    const asked = 'TIME  refund ID  turn 1  suspended  confirm asked  token of N bytes  N ms';
    const done = 'TIME  refund ID  turn 2  completed  confirm answered, pay-back succeeded  N ms';
    expect(normalized(dev.output).replaceAll(folder, '').trim().split('\n')).toEqual([
      'SAGA_KEYS is not set: tokens end with this process.',
      'Claude Code, in .mcp.json: {"mcpServers":{"sagas":{"type":"http","url":"http://HOST/mcp"}}}',
      'Other clients: --clients, or the studio.',
      'TIME  serving refund at http://HOST/mcp and the studio at http://HOST/studio/',
      'TIME  client tester 1, MCP 2026-07-28: elicitation.form',
      asked,
      asked,
      done,
      'TIME  reloaded: refund',
      done,
      'TIME  the new code fails, so the old code keeps serving: Transform failed with 1 error:',
      '/code.ts:1:20: ERROR: Unexpected ";"',
      asked,
      done,
      'TIME  reloaded: refund',
      asked,
      done,
    ]);
  });

  it('reloads the files of a CommonJS package, and serves an exported server', async () => {
    const folder = newProject({
      'package.json': '{"type":"commonjs"}',
      'refund.ts': refund,
      'code.ts': "export const code = 'old code';",
      'server.ts': `
import { serveSagas } from '@mcp-saga/server/serve';
import { refund } from './refund';
export const server = serveSagas({ name: 'shop', version: '1', sagas: [refund], keys: 'ephemeral' });
`,
    });
    // What `require` loads has no bundle.
    const { dev, url } = await devFrom(['--import', 'tsx', ...bin], join(folder, 'server.ts'));
    const client = await connect(url);
    const turn = await startSaga(client, { name: 'refund' });
    writeFileSync(join(folder, 'code.ts'), "export const code = 'new code';");
    await dev.printed(/reloaded: refund/);
    expect(await suspended(turn).resume([yes])).toMatchObject({
      status: 'completed',
      result: { content: [{ type: 'text', text: 'new code' }] },
    });
    await client.close();
  });

  it('shows the doctor which clients have called, and what each of them supports', async () => {
    const folder = newProject({ 'sagas.ts': refund, 'code.ts': "export const code = 'done';" });
    const { url } = await startDev(join(folder, 'sagas.ts'));
    const clients = async (...args: readonly string[]): Promise<readonly string[]> => {
      const { code, printed } = await run(['doctor', ...args]);
      expect(code).toBe(0);
      return printed.split('\n').filter((line) => line.includes('clients:'));
    };
    expect(await clients('--url', url)).toEqual([expect.stringContaining('clients: none seen')]);
    const client = await connect(url);
    suspended(await startSaga(client, { name: 'refund' }));
    await client.close();
    const seen = [
      'ok    clients: tester 1, MCP 2026-07-28, supports elicitation.form, lacks sampling, roots, tasks',
      'ok    clients: started sagas by tools/callSaga',
    ];
    expect(await clients('--url', url)).toEqual(seen);
    expect(await clients('--studio', new URL('/studio', url).href)).toEqual(seen);
  });

  it('opens a token in the studio with the keys of the server, and shows no key and no value', async () => {
    const folder = newProject({
      'sagas.ts': refund,
      'code.ts': "export const code = 'done';",
      '.env': `SAGA_KEYS=${keys}\n`,
    });
    const { url } = await startDev(join(folder, 'sagas.ts'), '--env-file', join(folder, '.env'));
    const client = await connect(url);
    const begun = suspended(await startSaga(client, { name: 'refund' }));
    const { sagaToken: token } = begun.toJSON();
    await client.close();
    const inspected = async (body: string): Promise<{ status: number; text: string }> => {
      const response = await fetch(new URL('/studio/inspect', url), { method: 'POST', body });
      return { status: response.status, text: await response.text() };
    };
    const { status, text } = await inspected(`${token}\n`);
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({
      keyId: 'k1',
      tokenBytes: token.length,
      claims: { saga: { name: 'refund' }, turn: 1 },
      timeline: [{ kind: 'input', outcome: 'parsed' }],
    });
    expect(text).not.toContain(keys.slice(3));
    const foreign = await createSagaHost({
      sagas: [elsewhere],
      keys: generateKey('k2'),
      name: 'sagas.ts',
    }).start('elsewhere', {});
    expect(foreign.status === 'suspended' && (await inspected(foreign.token))).toMatchObject({
      status: 422,
      text: expect.stringContaining('unknown_key'),
    });
    expect(await inspected(token.slice(0, -9))).toMatchObject({ status: 422 });
  });

  it('continues a saga after a kill between question and answer, and knows which tokens are used', async () => {
    const folder = newProject({
      'sagas.ts': refund.replace(", reuse: 'ok'", ''),
      'code.ts': "export const code = 'paid back';",
    });
    const { dev, url } = await startDev(join(folder, 'sagas.ts'));
    const state = async (more: string = ''): Promise<StudioState> =>
      (await (await fetch(new URL(`/studio/state${more}`, url))).json()) as StudioState;
    const kill = (): Promise<unknown> =>
      fetch(new URL('/studio/kill', url), { method: 'POST' }).catch((error: unknown) => error);
    const client = await connect(url);
    const open = suspended(await startSaga(client, { name: 'refund' }));
    const { process: first } = await state();

    // A crash sends no response.
    expect(await kill()).toBeInstanceOf(TypeError);
    await dev.printed(/process \d+ was killed, process \d+ is serving refund at /);
    const { process: second, seen } = await state();
    expect(second?.replaced).toBe(first?.id);
    expect(second?.id).not.toBe(first?.id);
    expect(seen).toMatchObject([{ saga: 'refund', turn: 1, status: 'suspended' }]);
    expect((await state(`?saga=${seen[0]?.sagaId}`)).continuesAt).toBeGreaterThan(Date.now());
    expect(await open.resume([yes])).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'paid back' }] },
    });

    process.kill(second?.id ?? NaN, 'SIGKILL');
    await dev.printed(/(?:was killed, process [^]*){2}/);
    const declined = { stepId: 'confirm', result: { action: 'decline' } } as const;
    await expect(open.resume([declined])).rejects.toThrow();
    await dev.printed(/rejected a token: used/);
    expect((await state(`?saga=${seen[0]?.sagaId}`)).turns.map((turn) => turn.process)).toEqual([
      first?.id,
      second?.id,
    ]);
    await client.close();
    process.kill(dev.pid, 'SIGINT');
    expect(await dev.ended).toMatchObject({ code: 130 });
  });

  it('lets the queue continue a turn that ran when the process was killed', async () => {
    const folder = newProject({
      'host.ts': `
import { existsSync } from 'node:fs';
import { createSagaHost, elicit, saga, step } from '@mcp-saga/server';
import { z } from 'zod';
const pay = saga({ name: 'pay', version: '1' }, function* () {
  yield* elicit('confirm', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
  yield* step('charge', async ({ idempotencyKey }) => {
    // Before the line that the test waits for: the test then writes the file.
    const isFirst = !existsSync(new URL('killed', import.meta.url));
    console.log('CHARGES ' + idempotencyKey);
    if (isFirst) await new Promise(() => undefined);
    return 'charged';
  });
  return 'paid';
});
export const host = createSagaHost({ sagas: [pay], name: 'shop', limits: { lease: 1_000 } });`,
    });
    const { dev, url } = await startDev(join(folder, 'host.ts'));
    const client = await connect(url);
    const resumed = suspended(await startSaga(client, { name: 'pay' })).resume([yes]);
    // The client is gone with its connection.
    const gone = expect(resumed).rejects.toThrow();
    await dev.printed(/CHARGES /);
    writeFileSync(join(folder, 'killed'), '');
    await fetch(new URL('/studio/kill', url), { method: 'POST' }).catch(() => undefined);
    await dev.printed(/ turn 2  completed  confirm answered, charge succeeded/);
    // The next attempt has the key of the first one.
    await dev.printed(/CHARGES (\S+)\n[^]*CHARGES \1\n/);
    await client.close();
    await gone;
  });

  it('serves an exported host, and keeps its key and its answer pages over a reload', async () => {
    const folder = newProject({
      'host.ts': `
import { approval, createSagaHost, saga } from '@mcp-saga/server';
const ask = saga({ name: 'ask', version: '1', reuse: 'ok' }, function* () ${asksManager}
export const host = createSagaHost({
  sagas: [ask],
  name: 'shop',
  keys: 'ephemeral',
  limits: { maxHold: 0 },
});`,
    });
    const { dev, url } = await startDev(join(folder, 'host.ts'));
    const client = await connect(url);
    const begun = suspended(await startSaga(client, { name: 'ask' }));
    // Before the link goes out, the client gets a token.
    const open = suspended(await begun.resume([]));
    const [, link = ''] = await dev.printed(/LINK (\S+)/);
    writeFileSync(join(folder, 'host.ts'), '// Changed.', { flag: 'a' });
    await dev.printed(/reloaded/);
    expect(await (await fetch(link)).text()).toContain('Approve?');
    const answered = await fetch(link, {
      method: 'POST',
      body: new URLSearchParams({ decision: 'approve' }),
    });
    expect(answered.status).toBe(200);
    let turn = await open.resume([]);
    while (turn.status === 'suspended') turn = await turn.saga.resume([]);
    expect(turn).toMatchObject({ result: { content: [{ text: 'approved' }] } });
    await client.close();
  });

  it('serves an exported server with its options and hooks, for every client', async () => {
    const folder = newProject({
      'code.ts': "export const code = 'served';",
      'sagas.ts': refund,
      'server.ts': `
import { serveSagas } from '@mcp-saga/server/serve';
import { refund } from './sagas.ts';
export default serveSagas({
  name: 'shop',
  version: '7',
  sagas: [{ ...refund, answeredBy: ['client', 'model'] }],
  answerers: { model: 'accept' },
  http: { path: '/api/mcp', allowedHosts: ['shop.example'] },
  hooks: { onTurn: ({ status }) => console.error('HOOK ' + status) },
});`,
    });
    const { dev, url: served } = await startDev(join(folder, 'server.ts'), '--json');
    const lines = (): readonly Readonly<Record<string, unknown>>[] =>
      dev.output
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    expect(lines()).toContainEqual(
      expect.objectContaining({
        type: 'ready',
        url: served,
        studio: new URL('/studio/', served).href,
      }),
    );
    expect(new URL(served).pathname).toBe('/api/mcp');
    for (const way of ['saga-methods', 'tool', 'resume-token'])
      expect(
        await run(['call', 'refund', '--url', served, '--answer', 'sure=true', '--as', way]),
        way,
      ).toMatchObject({ code: 0, printed: 'served' });
    await dev.printed(/HOOK completed/);
    expect(lines()).toContainEqual(
      expect.objectContaining({
        type: 'turn',
        saga: 'refund',
        turn: 2,
        status: 'completed',
        steps: [
          { path: 'confirm', type: 'answered' },
          { path: 'pay-back', type: 'succeeded' },
        ],
      }),
    );
  });

  it('shows an interrupted turn, and that its outcome is unknown', async () => {
    const folder = newProject({
      'sagas.ts': `
import { saga, step } from '@mcp-saga/server';
export const order = saga({ name: 'order', version: '1' }, function* () {
  yield* step('pay', () => 'paid');
  yield* step('ship', async () => {
    console.log('SHIPS');
    await new Promise(() => undefined);
  });
});`,
    });
    const { dev, url } = await startDev(join(folder, 'sagas.ts'));
    const call = start(process.execPath, [...bin, 'call', 'order', '--url', url]);
    running.push(call);
    await dev.printed(/SHIPS/);
    process.kill(call.pid, 'SIGINT');
    expect(await call.ended).toMatchObject({ code: 130 });
    expect(call.output).toContain(
      'The request was interrupted. The outcome of its steps is unknown.',
    );
    const state = async (more: string): Promise<StudioState> =>
      (await (await fetch(new URL(`/studio/state${more}`, url))).json()) as StudioState;
    const [order] = (await state('')).seen;
    const turns = async (): Promise<StudioState['turns']> =>
      (await state(`?saga=${order?.sagaId}`)).turns;
    await vi.waitFor(
      async () => expect(await turns()).toMatchObject([{ status: 'rejected' }]),
      longestWait,
    );
    expect(await turns()).toMatchObject([
      {
        errorType: 'turn_aborted',
        events: [
          { id: 'pay', type: 'succeeded' },
          { id: 'ship', type: 'failed', errorType: 'outcome_unknown' },
        ],
      },
    ]);
    await dev.printed(
      / turn 1  request interrupted  pay succeeded, outcome of ship unknown  \d+ ms\n/,
    );
  });

  it('names the MCP SDK at the start if the project does not have it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-'));
    const installed = join(folder, 'node_modules/@mcp-saga');
    const packages = fileURLToPath(new URL('../../', import.meta.url));
    mkdirSync(installed, { recursive: true });
    for (const name of ['core', 'seal']) symlinkSync(join(packages, name), join(installed, name));
    for (const part of ['package.json', 'src'])
      cpSync(join(packages, 'server', part), join(installed, 'server', part), { recursive: true });
    const module = `import { saga } from '@mcp-saga/server';
export const idle = saga({ name: 'idle', version: '1' }, function* () { return 'done'; });`;
    writeFileSync(join(folder, 'sagas.mts'), module);
    vi.stubEnv('SAGA_KEYS', keys);
    expect(await run(['dev', join(folder, 'sagas.mts'), '--port', '0'])).toEqual({
      code: 2,
      printed: '',
      errors:
        'To serve sagas, install the MCP SDK in your project: npm install @modelcontextprotocol/server',
    });
    vi.unstubAllEnvs();
  });

  it('logs the error behind a response with 503', async () => {
    const folder = newProject({
      'code.ts': "export const code = 'served';",
      'sagas.ts': refund,
      'server.ts': `
import { serveSagas } from '@mcp-saga/server/serve';
import { refund } from './sagas.ts';
const authenticate = () => { throw new TypeError('no directory of users'); };
export default serveSagas({ name: 'shop', version: '1', sagas: [refund], auth: { authenticate, principal: () => 'ada' } });`,
    });
    const { dev, url } = await startDev(join(folder, 'server.ts'));
    const { status } = await fetch(url, { method: 'POST', body: '{}' });
    expect(status).toBe(503);
    await dev.printed(/error: TypeError: no directory of users/);
  });

  it('keeps serving after a promise that nobody handles', async () => {
    const source =
      "import { saga } from '@mcp-saga/server';\nexport const a = saga({ name: 'a', version: '1' }, function* () {});\n";
    const folder = newProject({ 'a.ts': source });
    const { dev, url } = await startDev(join(folder, 'a.ts'));
    writeFileSync(join(folder, 'a.ts'), `${source}void Promise.reject(new Error('db down'));`);
    await dev.printed(/db down/);
    expect((await fetch(new URL('/studio/state', url))).status).toBe(200);
  });

  it('ends with 130 by Ctrl-C', async () => {
    const dev = startInTerminal([...bin, 'dev', '--port', '0', fixture('sagas.ts')], withoutKeys);
    await dev.printed(/serving refund at/);
    dev.stdin.write('\u0003');
    expect(await dev.ended).toMatchObject({ code: 130 });
  });

  it('ends by Ctrl-C also while code of the user never ends', async () => {
    const dev = startInTerminal([...bin, 'dev', '--port', '0', fixture('endless.ts')], withoutKeys);
    const [url = ''] = await dev.printed(/(?<=serving endless at )http\S+/);
    const call = start(process.execPath, [...bin, 'call', 'endless', '--url', url]);
    await dev.printed(/spinning/);
    dev.stdin.write('\u0003');
    expect(await dev.ended).toMatchObject({ code: 137 });
    expect(await call.ended).toMatchObject({ code: 3 });
  });

  it('leaves no process behind if it is terminated while code of the user never ends', async () => {
    const { dev, url } = await startDev(fixture('endless.ts'));
    const state = await fetch(new URL('/studio/state', url));
    const { process: worker } = (await state.json()) as StudioState;
    const call = start(process.execPath, [...bin, 'call', 'endless', '--url', url]);
    await dev.printed(/spinning/);
    process.kill(dev.pid, 'SIGTERM');
    expect(await dev.ended).toMatchObject({ signal: 'SIGTERM' });
    expect(worker?.id).not.toBe(dev.pid);
    await expect.poll(() => isRunning(worker?.id ?? NaN)).toBe(false);
    await call.ended;
  });

  it('reports a rejected promise of the user as an error of the command', () => {
    const text =
      "import { saga, step } from '@mcp-saga/server';\nexport const a = saga({ name: 'a', version: '1' }, function* () { yield* step('b', () => void Promise.reject(new Error('db down'))); yield* step('c', () => new Promise((end) => setTimeout(end, 9))); });\n";
    const file = join(newProject({ 'a.ts': text }), 'a.ts');
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...bin, 'graph', file, '--json'],
      {
        cwd: root,
      },
    );
    expect(status).toBe(1);
    expect(JSON.parse(String(stdout))).toEqual({ error: { code: 'failed', message: 'db down' } });
    expect(String(stderr)).toBe('');
  });

  it('prints only the result on standard output, also if code of the user logs', () => {
    const text =
      "import { saga, step } from '@mcp-saga/server';\nconsole.log('loading');\nexport const a = saga({ name: 'a', version: '1' }, function* () { yield* step('b', () => console.log('running')); });\n";
    const file = join(newProject({ 'a.ts': text }), 'a.ts');
    const { stdout, stderr } = spawnSync(process.execPath, [...bin, 'graph', file, '--json'], {
      cwd: root,
    });
    expect(JSON.parse(String(stdout))).toHaveProperty('mermaid');
    expect(String(stderr)).toMatch(/loading[^]*running/);
  });

  it('fails if code of the user ends the process', () => {
    const file = join(newProject({ 'a.ts': 'process.exit(0);' }), 'a.ts');
    const { status, stderr } = spawnSync(process.execPath, [...bin, 'crash', file], { cwd: root });
    expect(status).toBe(1);
    expect(String(stderr)).toContain('ended the process');
    const json = spawnSync(process.execPath, [...bin, 'crash', file, '--json'], { cwd: root });
    expect(json.status).toBe(1);
    expect(JSON.parse(String(json.stdout))).toMatchObject({ error: { code: 'failed' } });
    expect(String(json.stderr)).toBe('');
  });

  it('does not succeed if the result cannot be written', () => {
    const stdio = ['ignore', openSync('/dev/full', 'w'), 'ignore'] as const;
    for (const more of [[], ['--json']])
      expect(
        spawnSync(process.execPath, [...bin, 'keys', 'new', ...more], {
          cwd: root,
          stdio: [...stdio],
        }),
      ).toMatchObject({ status: 141 });
  });

  it('ends by Ctrl-C without an error in JSON, and prints other errors as one line', async () => {
    vi.stubEnv('SAGA_KEYS', keys);
    const args = ['dev', fixture('sagas.ts'), '--port', '0', '--json'];
    const stopped = await run(args, {
      signal: AbortSignal.abort(),
      environment: { SAGA_KEYS: keys },
    });
    expect(stopped).toMatchObject({ code: 130, errors: '' });
    expect(JSON.parse(stopped.printed.split('\n').at(-1) ?? '')).toMatchObject({ type: 'ready' });
    const { code, printed } = await run(['dev', 'nowhere.ts', '--json']);
    expect(printed.split('\n')).toHaveLength(1);
    expect({ code, ...JSON.parse(printed) }).toMatchObject({ code: 2, error: { code: 'no_file' } });
    vi.unstubAllEnvs();
  });

  it.each([
    ['crash', [fixture('endless.ts')], /endless: crash/],
    ['crash', [fixture('endless.ts'), '--json'], /endless: crash/],
    ['doctor', ['--json', `--host=${newProject({ 'a.ts': endless })}/a.ts`], /loading/],
  ])('ends endless code of the user by Ctrl-C: %s %s', async (command, args, printed) => {
    const started = start(process.execPath, [...bin, command, ...args], withoutKeys);
    running.push(started);
    await started.printed(printed);
    process.kill(started.pid, 'SIGINT');
    expect(await started.ended).toMatchObject({ signal: 'SIGINT' });
  });

  it('prints the configuration of each client on request, and none for programs', async () => {
    vi.stubEnv('SAGA_KEYS', keys);
    const notes = async (...args: readonly string[]): Promise<string> => {
      const options = { signal: AbortSignal.abort(), environment: { SAGA_KEYS: keys } };
      const file = fixture('sagas.ts');
      return (await run(['dev', file, '--port', '0', ...args], options)).errors;
    };
    expect(await notes('--clients', '--json')).toBe('');
    const all = await notes('--clients');
    const [, url = ''] = /"url": "([^"]+)"/.exec(all) ?? [];
    for (const { client, text } of clientSnippets({ name: 'shop', url })) {
      expect(all).toContain(`${client}, in `);
      expect(all).toContain(text);
    }
    vi.unstubAllEnvs();
  });

  it('serves nothing but answer pages at the port for a tunnel, and links to its public address', async () => {
    const folder = newProject({
      'sagas.ts': `
import { approval, saga } from '@mcp-saga/server';
export const ask = saga({ name: 'ask', version: '1' }, function* () ${asksManager}`,
    });
    const address = 'https://shop.example';
    const { dev, url } = await startDev('--answers-url', address, join(folder, 'sagas.ts'));
    const [, tunnel = ''] = await dev.printed(/for the tunnel of https:\/\/shop.example: (\S+)/);
    const client = await connect(url);
    await suspended(await startSaga(client, { name: 'ask' })).resume([]);
    await client.close();
    const [, path = ''] = await dev.printed(/LINK https:\/\/shop.example(\S+)/);
    const statusOf = (at: string, host: string, method: string = 'GET'): Promise<unknown> =>
      new Promise((resolve, reject) => {
        request(new URL(at, tunnel), { method, headers: { host } }, (response) =>
          resolve(response.resume().statusCode),
        )
          .on('error', reject)
          .end();
      });
    expect(await statusOf(path, 'shop.example')).toBe(200);
    expect(await statusOf(path, 'evil.example')).toBe(403);
    for (const host of ['shop.example', '127.0.0.1'])
      for (const closed of [
        '/',
        '/mcp',
        '/studio/',
        '/studio/state',
        '/saga/wake',
        `/studio${path}`,
      ])
        expect(await statusOf(closed, host), closed).toBe(404);
    for (const closed of ['/mcp', '/studio/inspect', '/studio/kill', '/studio/engine?id=1'])
      expect(await statusOf(closed, '127.0.0.1', 'POST'), closed).toBe(404);
    // The studio itself answers no request by that name.
    expect((await fetch(new URL('/studio/state', url))).status).toBe(200);
    expect(await statusOf(new URL('/studio/state', url).href, 'shop.example')).toBe(403);
    // A tunnel to the port of the server lets nobody in.
    for (const closed of [url, new URL(path, url).href])
      expect(await statusOf(closed, 'shop.example', 'POST'), closed).toBe(403);
    vi.stubEnv('SAGA_KEYS', keys);
    for (const wrong of ['http://shop.example', 'shop.example'])
      expect(await run(['dev', fixture('sagas.ts'), '--answers-url', wrong])).toMatchObject({
        code: 2,
        errors: expect.stringContaining('expected the HTTPS address of a tunnel'),
      });
    vi.unstubAllEnvs();
  });

  it('serves at PORT of its environment or of --env-file, unless --port is given', async () => {
    vi.stubEnv('SAGA_KEYS', keys);
    vi.stubEnv('PORT', undefined);
    const refused = async (...args: readonly string[]): Promise<string> =>
      (await run(['dev', fixture('sagas.ts'), ...args], { environment: { PORT: '65537' } })).errors;
    expect(await refused()).toMatch(/^PORT 65537: expected a port/);
    expect(await refused('--port=65538')).toMatch(/^--port 65538: expected a port/);
    const file = join(newProject({ '.env': 'PORT=65539\n' }), '.env');
    const fromFile = await run(['dev', fixture('sagas.ts'), '--env-file', file]);
    expect(fromFile.errors).toMatch(/^PORT 65539: expected a port/);
    vi.unstubAllEnvs();
  });

  it('serves at the next free port if nobody chose one, and says so', async () => {
    vi.stubEnv('SAGA_KEYS', keys);
    vi.stubEnv('PORT', undefined);
    // Another program may have the port already, which serves the purpose as well.
    const other = createServer();
    await new Promise<void>((resolve) => {
      other.once('error', () => resolve()).listen(3_000, '127.0.0.1', resolve);
    });
    const { printed, errors } = await run(['dev', fixture('sagas.ts'), '--json'], {
      signal: AbortSignal.abort(),
      environment: { SAGA_KEYS: keys },
    });
    other.close();
    const { url } = JSON.parse(printed.split('\n').at(-1) ?? '') as { readonly url: string };
    const port = Number(new URL(url).port);
    expect(port).toBeGreaterThan(3_000);
    expect(errors).toBe(`Port 3000 is in use, so the server listens at ${port}.`);
    vi.unstubAllEnvs();
  });

  it('reports a file without sagas, and a port in use', async () => {
    // The command sets missing variables for the modules that it imports.
    vi.stubEnv('SAGA_KEYS', keys);
    expect(await run(['dev', fixture('machine.ts')])).toMatchObject({ code: 2, printed: '' });
    expect(await run(['dev', fixture('sagas.ts'), '--port', '65536'])).toMatchObject({
      code: 2,
      printed: '',
    });
    expect(await run(['dev', 'nowhere.ts'])).toMatchObject({ code: 2, printed: '' });
    expect(await run(['dev', fixture('sagas.ts'), '--port', 'http'])).toMatchObject({ code: 2 });
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const { code, errors } = await run(['dev', fixture('sagas.ts'), '--port', String(port)]);
    other.close();
    expect(errors).toContain(`Port ${port} is in use`);
    vi.unstubAllEnvs();
    expect(code).toBe(2);
  });
});
