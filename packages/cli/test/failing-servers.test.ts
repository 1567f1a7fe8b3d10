import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { saga, step } from '@mcp-saga/server';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { serve, type Server } from 'srvx';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { bundleForNode, runBundles } from '../../../test/support/bundle-for-node.ts';
import { fixture, run } from './command-line.ts';
import { advise, keys, refund } from './fixtures/sagas.ts';
import { expectLogs } from '../../../test/support/logs.ts';
import { askingModels } from '../../../test/support/asking-models.ts';

type Answer = (
  method: string,
  request: Request,
) => Promise<Response | undefined> | Response | undefined;

let answer: Answer = () => undefined;
let isSlow = false;
const slow = saga({ name: 'slow', version: '1' }, function* () {
  return yield* step('work', async () => {
    if (isSlow) await vi.advanceTimersByTimeAsync(4 * 60_000);
    return 'done';
  });
});
let sagas: SagaServer;
let server: Server;
let url = '';

beforeAll(async () => {
  sagas = serveSagas({
    name: 'shop',
    version: '1',
    sagas: askingModels([refund, advise, slow]),
    keys,
    answerers: { model: 'accept' },
  });
  server = serve({
    fetch: async (request) => {
      const body = await request.clone().text();
      const { method = request.method } = JSON.parse(body || '{}') as { readonly method?: string };
      return (await answer(method, request)) ?? (await sagas.fetch(request));
    },
    port: 0,
    hostname: '127.0.0.1',
    silent: true,
  });
  await server.ready();
  url = new URL('/mcp', server.url).href;
});
afterEach(() => {
  answer = () => undefined;
  isSlow = false;
  vi.useRealTimers();
});
afterAll(() => server.close(true));

const codeOf = async (...args: Parameters<typeof run>): Promise<readonly [number, string]> => {
  const { code, printed } = await run([...args[0], '--json'], args[1]);
  const { error } = JSON.parse(printed) as { readonly error?: { readonly code: string } };
  return [code, error?.code ?? 'none'];
};
const calling = (...more: readonly string[]): readonly string[] => [
  'call',
  'slow',
  '--url',
  url,
  ...more,
];
const failing =
  (failed: string, make: () => Promise<Response> | Response): Answer =>
  (method) =>
    method === failed ? make() : undefined;

const replying =
  (replied: string, reply: object): Answer =>
  async (method, request) => {
    if (method !== replied) return undefined;
    const { id } = (await request.json()) as { readonly id: number };
    return Response.json({ jsonrpc: '2.0', id, ...reply });
  };

describe.each([['saga-methods'], ['tool'], ['resume-token']])('mcp-saga call --as %s', (way) => {
  it('waits for a tool that works for four minutes', async () => {
    expectLogs(/Step 'work' of saga 'slow' is still running/);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    isSlow = true;
    expect(await run(calling('--as', way))).toEqual({ code: 0, errors: '', printed: 'done' });
  });

  it.each([
    ['401', () => new Response(null, { status: 401 }), 'unreachable'],
    ['429', () => new Response('slow down', { status: 429 }), 'unreachable'],
    ['502', () => new Response('bad gateway', { status: 502 }), 'unreachable'],
    ['HTML', () => new Response('<html>', { headers: { 'content-type': 'text/html' } }), 'not_mcp'],
    [
      'broken JSON',
      () => new Response('{', { headers: { 'content-type': 'application/json' } }),
      'not_mcp',
    ],
  ])('ends with exit code 3 if the server answers the call with %s', async (_, make, code) => {
    answer = failing(way === 'saga-methods' ? 'tools/callSaga' : 'tools/call', make);
    expect(await codeOf(calling('--as', way))).toEqual([3, code]);
  });

  it('keeps the error of a server that refuses the request', async () => {
    const method = way === 'saga-methods' ? 'tools/callSaga' : 'tools/call';
    answer = failing(method, () => new Response('too large', { status: 413 }));
    const code = way === 'saga-methods' ? 'saga_request_failed' : 'request_failed';
    expect(await codeOf(calling('--as', way))).toEqual([1, code]);
  });
});

describe('a server that fails after the connection', () => {
  it('is reported if its list of tools is malformed', async () => {
    answer = replying('tools/list', { result: { tools: 1 } });
    expect(await codeOf(calling())).toEqual([3, 'not_mcp']);
  });

  it('is reported if a request of the list of tools times out', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    answer = failing('tools/list', async () => {
      await vi.advanceTimersByTimeAsync(60_001);
      return await new Promise<never>(() => undefined);
    });
    const { code, errors } = await run(calling());
    expect(errors).toContain('outcome of the last request is unknown');
    expect(code).toBe(3);
  });

  it('does not hold a call after Ctrl-C while it lists its tools', async () => {
    for (const way of ['saga-methods', 'tool']) {
      const stopped = new AbortController();
      answer = failing('tools/list', async () => {
        stopped.abort();
        return await new Promise<never>(() => undefined);
      });
      const { code, errors } = await run(calling('--as', way, '--json'), {
        signal: stopped.signal,
      });
      expect({ code, errors }).toEqual({ code: 130, errors: '' });
    }
  });

  it('is one failed check of the doctor beside the others', async () => {
    const environment = { SAGA_KEYS: keys };
    answer = failing('tools/list', () => new Response(null, { status: 502 }));
    const { code, printed } = await run(['doctor', '-u', url, '--json'], { environment });
    expect(code).toBe(1);
    expect(JSON.parse(printed)).toMatchObject({
      checks: [
        { name: 'keys', ok: true },
        { name: 'server', ok: false },
      ],
    });
    expect(await codeOf(['doctor', '-u', url])).toEqual([3, 'unreachable']);
  });
});

describe('mcp-saga call after Ctrl-C', () => {
  it('prints an error in JSON, and says that the outcome is unknown', async () => {
    const stopping = (...more: readonly string[]): ReturnType<typeof run> => {
      const stop = new AbortController();
      answer = (method) => {
        if (method.startsWith('tools/call')) stop.abort();
        return undefined;
      };
      return run(calling(...more), { signal: stop.signal });
    };
    const { code, printed } = await stopping('--json');
    expect({ code, ...JSON.parse(printed) }).toMatchObject({
      code: 130,
      error: { code: 'stopped' },
    });
    const errors = 'The request was interrupted. The outcome of its steps is unknown.';
    expect(await stopping()).toEqual({ code: 130, printed: '', errors });
  });
});

describe('mcp-saga doctor', () => {
  const limits = async (...more: readonly string[]): Promise<readonly string[]> => {
    const { code, printed } = await run(['doctor', '-u', url, ...more]);
    expect(code).toBe(0);
    return printed.split('\n').filter((line) => line.startsWith('note  limits: '));
  };

  it('says that clients of MCP 2025 cannot be asked by a server without sessions', async () => {
    const [old = '', tasks = ''] = await limits();
    expect(old).toContain('cannot ask clients of MCP 2025, because it has no sessions');
    expect(tasks).toContain('has no tasks');
    expect(await limits('--mcp', '2025-11-25')).toContain(old);
  });

  it('says that clients of MCP 2025 are asked in a session, if the server opens one', async () => {
    answer = async (method, request) => {
      if (method !== 'initialize') return undefined;
      const response = await sagas.fetch(request);
      response.headers.set('mcp-session-id', 'session-1');
      return response;
    };
    expect(await limits()).toContain(
      'note  limits: asks clients of MCP 2025 only in a session, which lives in one process',
    );
  });

  it('says that a server does not serve clients of MCP 2025, if it refuses them', async () => {
    answer = failing('initialize', () => new Response(null, { status: 400 }));
    expect(await limits()).toContain('note  limits: does not serve clients of MCP 2025');
  });

  it('says nothing about clients of MCP 2025, if --mcp names the other version', async () => {
    expect((await limits('--mcp', '2026-07-28')).join()).not.toContain('2025');
  });
});

describe('the clock check of mcp-saga doctor', () => {
  const clock = async (...more: readonly string[]): Promise<unknown> => {
    const { printed } = await run(['doctor', '-u', url, '--json', ...more]);
    const { checks } = JSON.parse(printed) as {
      readonly checks: readonly { readonly name: string }[];
    };
    return checks.find(({ name }) => name === 'clock');
  };

  it('sends the headers of the options', async () => {
    const sent: (string | null)[] = [];
    answer = (method, { headers }) => {
      if (method === 'OPTIONS') sent.push(headers.get('authorization'));
      return undefined;
    };
    expect(await clock('--header', 'Authorization: Bearer abc')).toMatchObject({ ok: true });
    expect(sent).toEqual(['Bearer abc']);
  });

  it('is unknown without an answer', async () => {
    answer = failing('OPTIONS', () => {
      throw new Error('no answer');
    });
    expect(await clock()).toMatchObject({ ok: true });
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
    expect(await clock()).toEqual({
      name: 'clock',
      ok: true,
      text: expect.stringMatching(/^unknown: /),
    });
    vi.restoreAllMocks();
  });
});

describe('wrong options of a server', () => {
  it.each([
    ['--header', 'Authorization: Bearer\nsecret'],
    ['--header', 'secret'],
    ['--header', 'Na me: secret'],
    ['--url', 'http://ada:secret@127.0.0.1:1/mcp'],
    ['--url', 'htp://ada:secret@127.0.0.1:1/mcp'],
    ['--mcp', '2024-01-01'],
  ])('end with exit code 2, and without a secret: %s %s', async (...option) => {
    const { code, errors } = await run([...calling(), ...option]);
    expect(code).toBe(2);
    expect(errors).not.toContain('secret');
  });

  it('name a command without words', async () => {
    for (const stdio of ['', '  '])
      expect(await codeOf(['call', 'slow', '--stdio', stdio])).toEqual([2, 'usage']);
  });

  it('name a version that an older server does not have', async () => {
    const error = { code: -32601, message: 'Method not found' };
    answer = replying('server/discover', { error });
    const { code, errors } = await run(calling('--mcp', '2026-07-28'));
    expect(errors).toContain('MCP 2026-07-28');
    expect(code).toBe(3);
  });
});

describe('mcp-saga over --stdio', () => {
  it('takes a path with spaces in quotes', async () => {
    await bundleForNode('packages/cli/test/fixtures/server.ts');
    const folder = join(mkdtempSync(join(tmpdir(), 'mcp saga ')), 'my node');
    symlinkSync(process.execPath, folder);
    const environment = { ...process.env, SAGA_KEYS: keys };
    for (const quote of ['"', "'"]) {
      const stdio = `${quote}${folder}${quote} ${runBundles.join(' ')} ${fixture('server.ts')} --stdio`;
      const ran = await run(['call', 'refund', '--stdio', stdio, '-a', 'amount=9', '-y'], {
        environment,
      });
      expect(ran).toMatchObject({ code: 0, printed: 'refunded 9' });
    }
  });
});

describe('a question to the model', () => {
  const call = (...more: readonly string[]): ReturnType<typeof run> =>
    run(['call', 'advise', '--url', url, '-a', 'amount=9', ...more]);

  it.each([['saga-methods'], ['tool'], ['resume-token']])(
    'is declined by --decline: %s',
    async (way) => {
      if (way === 'saga-methods') expectLogs(/'advise' failed in turn 2/);
      const id = way === 'tool' ? 'sampling' : 'opinion';
      const { code, errors } = await call('--as', way, '--decline', id);
      expect(errors).toContain(`${id}: declined by the options`);
      expect(code).toBe(1);
    },
  );

  it('takes an answer that is not a text', async () => {
    expect(await call('--answer', 'opinion=12')).toMatchObject({ code: 0, printed: 'advised: 12' });
  });
});
