import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { all, elicit, elicitUrl, poll, progress, saga } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serve, type Server } from 'srvx';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { longestWait } from '../../../test/support/patience.ts';
import { run } from './command-line.ts';
import { pay } from './fixtures/pay.ts';
import { keys, refund } from './fixtures/sagas.ts';
import { askingModels } from '../../../test/support/asking-models.ts';

const place = saga({ name: 'place', version: '1' }, function* () {
  const answer = yield* elicit('where', {
    message: 'Where?',
    schema: z.object({ city: z.string(), zip: z.string().optional() }),
  });
  return JSON.stringify(answer);
});

const ready = saga({ name: 'ready', version: '1' }, function* () {
  yield* elicit('sure', { message: 'Ready?', schema: z.object({}) });
  return 'started';
});

const pages = saga({ name: 'pages', version: '1' }, function* () {
  yield* elicitUrl('page', { message: 'Open it.', url: 'https://shop.example/terms' });
  return 'opened';
});

const both = saga({ name: 'both', version: '1' }, function* () {
  const { one, two } = yield* all({
    one: elicit('one', { message: 'One?', schema: z.object({ one: z.number() }) }),
    two: elicit('two', { message: 'Two?', schema: z.object({ two: z.number() }) }),
  });
  return `${one.one} ${two.two}`;
});

/** `true` once the command has shown where the truck is: only then does it arrive. */
let isTruckShown = false;

const truck = saga({ name: 'truck', version: '1' }, function* () {
  return yield* poll('arrived', () => (isTruckShown ? 'arrived' : undefined), {
    every: 1,
    timeout: longestWait,
    report: () => 'The truck is on its way.',
  });
});

const copy = saga({ name: 'copy', version: '1' }, function* () {
  yield* progress(1, 2, 'half of it');
  return 'copied';
});

const track = saga(
  {
    name: 'track',
    version: '1',
    input: z.object({
      order: z.string(),
      note: z.string().nullable().optional(),
      amount: z.int().optional(),
    }),
  },
  // oxlint-disable-next-line require-yield -- the saga has no steps
  function* (input) {
    return JSON.stringify(input);
  },
);

let servers: readonly Server[] = [];
let urls: readonly string[] = [];

beforeAll(async () => {
  servers = [1, 2].map(() =>
    serve({
      ...serveSagas({
        name: 'shop',
        version: '1',
        sagas: askingModels([refund, place, both, truck, pay, copy, track, ready, pages]),
        keys,
        answerers: { model: 'accept' },
        limits: { maxHold: 0 },
      }),
      port: 0,
      hostname: '127.0.0.1',
      silent: true,
    }),
  );
  await Promise.all(servers.map((server) => server.ready()));
  urls = servers.map(({ url }) => new URL('/mcp', url).href);
});
afterAll(() => Promise.all(servers.map((server) => server.close(true))));

const ways = [
  ['--as', 'saga-methods'],
  ['--as', 'tool'],
  ['--as', 'tool', '--mcp', '2025-11-25'],
  ['--as', 'resume-token'],
  [],
];

describe('mcp-saga call', () => {
  it.each(ways)('answers by options: %s %s %s %s', async (...way) => {
    const call = ['call', 'refund', '--url', urls[0] ?? '', '--arg', 'amount=9', ...way];
    expect(await run([...call, '--answer', 'sure=true'])).toMatchObject({
      code: 0,
      printed: 'refunded 9',
    });
    expect(await run([...call, '--yes'])).toMatchObject({ code: 0, printed: 'refunded 9' });
    expect(await run([...call, '--answer', 'sure=false'])).toMatchObject({
      code: 0,
      printed: 'kept',
    });
  });

  it.each(ways)('reads arguments in the types of the schema: %s %s %s %s', async (...way) => {
    const call = (...given: readonly string[]): ReturnType<typeof run> =>
      run([
        'call',
        'track',
        '-u',
        urls[0] ?? '',
        ...way,
        ...given.flatMap((text) => ['--arg', text]),
      ]);
    for (const [given, read] of [
      [['order=12'], { order: '12' }],
      [['order=12.0'], { order: '12.0' }],
      [['order=12345678901234567890'], { order: '12345678901234567890' }],
      [['order={"a": 1}'], { order: '{"a": 1}' }],
      [['order="12"', 'note=true', 'amount=3'], { order: '12', note: 'true', amount: 3 }],
      [['order=null', 'note=null'], { order: 'null', note: null }],
    ] as const)
      expect(JSON.parse((await call(...given)).printed), given.join(' ')).toEqual(read);
  });

  it.each(['--arg', '--answer'])('refuses a repeated name of %s', async (option) => {
    const call = [
      'call',
      'refund',
      '-u',
      urls[0] ?? '',
      option,
      'sure=1',
      option,
      'sure=2',
      '--json',
    ];
    const { code, printed } = await run(call);
    expect({ code, ...JSON.parse(printed) }).toEqual({
      code: 2,
      error: { code: 'usage', message: `${option} sure: given more than once.` },
    });
  });

  it('answers a field of text with the text of the option', async () => {
    const call = [
      'call',
      'place',
      '-u',
      urls[0] ?? '',
      '--answer',
      'city=1e3',
      '--answer',
      'zip=12.0',
    ];
    expect(await run(call)).toMatchObject({ code: 0, printed: '{"city":"1e3","zip":"12.0"}' });
  });

  it('explains how to answer a question without an option', async () => {
    for (const way of ways) {
      const { code, errors } = await run([
        'call',
        'refund',
        '--url',
        urls[1] ?? '',
        '--args',
        '{"amount":9}',
        ...way,
      ]);
      expect(code).toBe(1);
      expect(errors).toContain('--answer sure=');
      expect(errors.includes('stays suspended')).toBe(
        way.length === 0 || way[1] === 'saga-methods',
      );
    }
  });

  it.each(ways)(
    'ends with the reason of the server if an option is refused: %s %s %s %s',
    async (...way) => {
      const call = ['call', 'pay', '--url', urls[0] ?? '', ...way];
      for (const [option, reason] of [
        ['--answer=amount=-5', '>=0'],
        ['--answer=amount=abc', 'number'],
        ['--yes', 'not free'],
      ] as const) {
        const { code, printed } = await run([...call, option, '--json']);
        expect({ code, ...JSON.parse(printed) }).toEqual({
          code: 1,
          error: { code: 'answer_refused', message: expect.stringContaining(reason) },
        });
      }
      expect(await run([...call, '--answer=amount=5'])).toMatchObject({
        code: 0,
        printed: 'paid 5',
      });
    },
  );

  it('declines a question', async () => {
    const call = [
      'call',
      'refund',
      '-u',
      urls[0] ?? '',
      '-a',
      'amount=9',
      '--decline',
      'confirm',
      '--json',
    ];
    const { code, printed, errors } = await run(call);
    expect(code).toBe(1);
    expect(errors).toContain('confirm: declined by the options');
    expect(JSON.parse(printed)).toMatchObject({ isError: true });
  });

  it.each(['saga-methods', 'resume-token'])(
    'names answers that no question used: %s',
    async (way) => {
      const call = ['call', 'refund', '-u', urls[0] ?? '', '-a', 'amount=9', '--as', way];
      const unused = 'No question for --answer confrm, --decline other. Asked: confirm (sure).';
      const options = ['--answer', 'confrm=true', '--decline', 'other'];
      const unanswered = await run([...call, ...options]);
      expect(unanswered).toMatchObject({ code: 1, errors: expect.stringContaining(unused) });
      const answered = await run([...call, ...options, '--answer', 'sure=true']);
      expect(answered).toMatchObject({ code: 0, errors: expect.stringContaining(unused) });
      const used = await run([...call, '--answer', 'confirm=true']);
      expect(used.errors).not.toContain('No question');
    },
  );

  it.each([
    ['a form without fields', 'ready', '--answer sure=true', true],
    ['a page', 'pages', '--answer page=true', true],
    ['a form whose field has no default', 'place', '--answer city=…', false],
  ])('names options that answer the question: %s', async (_, name, option, hasDefaults) => {
    const call = ['call', name, '-u', urls[0] ?? ''];
    const unanswered = await run(call);
    expect(unanswered).toMatchObject({ code: 1, errors: expect.stringContaining(option) });
    const answer = option.replace('…', 'Rome').split(' ');
    expect(await run([...call, ...answer])).toMatchObject({ code: 0 });
    expect(unanswered.errors.includes('or --yes')).toBe(hasDefaults);
    expect(await run([...call, '--yes'])).toMatchObject({ code: hasDefaults ? 0 : 1 });
  });

  it.each([
    ['a form without fields', 'ready', 'sure'],
    ['a page', 'pages', 'page'],
  ])('accepts only a yes for a question without a value: %s', async (_, name, id) => {
    const call = ['call', name, '-u', urls[0] ?? ''];
    for (const answer of ['true', 'yes', '{}'])
      expect(await run([...call, '--answer', `${id}=${answer}`])).toMatchObject({ code: 0 });
    for (const answer of ['false', 'no', '', 'perhaps'])
      expect(await run([...call, '--answer', `${id}=${answer}`])).toMatchObject({ code: 1 });
  });

  it('keeps an open saga in a file, and continues from the file', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'mcp-saga-keep-')), 'saga.json');
    const call = (name: string, ...more: string[]): ReturnType<typeof run> =>
      run(['call', name, '-u', urls[0] ?? '', '--keep', file, ...more]);
    const stopped = await call('refund', '-a', 'amount=9');
    expect(stopped).toMatchObject({ code: 1, errors: expect.stringContaining(`--keep ${file}`) });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { sagaToken } = JSON.parse(await readFile(file, 'utf8')) as { sagaToken: string };

    const other = await call('pay');
    expect(other).toMatchObject({ code: 2, errors: expect.stringContaining("a saga of 'refund'") });
    const byToken = await call('refund', '-a', 'amount=9', '--as', 'resume-token');
    expect(byToken).toMatchObject({ code: 2, errors: expect.stringContaining('saga methods') });
    expect(await readFile(file, 'utf8')).toContain(sagaToken);

    // The arguments are those of the saga. Another process of the server has the same keys.
    const continued = [
      'call',
      'refund',
      '-u',
      urls[1] ?? '',
      '--keep',
      file,
      '--answer',
      'sure=true',
    ];
    expect(await run(continued)).toMatchObject({
      code: 0,
      printed: 'refunded 9',
      errors: expect.stringMatching(new RegExp(`^continues the saga in ${file}`)),
    });
    await expect(stat(file)).rejects.toThrow('ENOENT');

    await writeFile(file, 'no saga');
    const broken = await call('refund', '--json');
    expect(JSON.parse(broken.printed)).toMatchObject({ error: { code: 'kept_saga_invalid' } });
  });

  it('keeps the answers before a question without an answer', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'mcp-saga-keep-')), 'saga.json');
    const call = ['call', 'both', '-u', urls[0] ?? '', '--keep', file];
    expect(await run([...call, '--answer', 'one=1'])).toMatchObject({ code: 1 });
    const { code, printed, errors } = await run([
      ...call,
      '--answer',
      'one=1',
      '--answer',
      'two=2',
    ]);
    expect({ code, printed }).toEqual({ code: 0, printed: '1 2' });
    // The call before used the other answer.
    expect(errors).not.toContain('No question');
  });

  it('names an argument that the tool does not have', async () => {
    const { code, errors } = await run(['call', 'refund', '-u', urls[0] ?? '', '-a', 'amout=9']);
    expect(code).toBe(1);
    expect(errors).toContain("The tool 'refund' has no argument 'amout'. Did you mean 'amount'?");
    expect(errors).not.toContain('resumeToken');
  });

  it.each(ways)('names a missing argument, and the option for it: %s %s %s %s', async (...way) => {
    const call = ['call', 'refund', '-u', urls[0] ?? '', ...way];
    const { code, printed, errors } = await run(call);
    expect(code).toBe(1);
    expect(errors).toContain("The tool 'refund' needs --arg amount=….");
    expect(printed + errors).toContain("Invalid arguments for 'refund': amount: expected number");
    expect(printed + errors).not.toMatch(/callSaga|-32602/);
    const given = await run([...call, '-a', 'amount=9', '--yes']);
    expect(given.errors).not.toContain('needs');
  });

  it('reports refused arguments as JSON', async () => {
    const { code, printed } = await run([
      'call',
      'refund',
      '-u',
      urls[0] ?? '',
      '-a',
      'amount=x',
      '--json',
    ]);
    expect(code).toBe(1);
    expect(JSON.parse(printed)).toEqual({
      error: {
        code: 'saga_request_failed',
        message: "Invalid arguments for 'refund': amount: expected number",
      },
    });
  });

  it('sends the whole content of a form, and numbers as text to a field of text', async () => {
    const call = ['call', 'place', '-u', urls[0] ?? ''];
    const whole = await run([...call, '--answer', 'where={"city":"Bonn"}']);
    expect(JSON.parse(whole.printed)).toEqual({ city: 'Bonn' });
    const fields = await run([...call, '--answer', 'city=Bonn', '--answer', 'zip=53111']);
    expect(JSON.parse(fields.printed)).toEqual({ city: 'Bonn', zip: '53111' });
  });

  it('shows the text of a waiting saga beside the result', async () => {
    isTruckShown = false;
    const { printed, errors } = await run(['call', 'truck', '-u', urls[0] ?? ''], {
      onNote: (text) => {
        isTruckShown ||= text.includes('The truck is on its way.');
      },
    });
    expect(printed).toBe('arrived');
    expect(errors).toContain('The truck is on its way.');
  });

  it.each([['saga-methods'], ['tool']])(
    'shows the progress that the tool reports: %s',
    async (way) => {
      const { printed, errors } = await run(['call', 'copy', '-u', urls[0] ?? '', '--as', way]);
      expect(printed).toBe('copied');
      expect(errors).toContain('progress: 1 of 2 half of it');
    },
  );

  it('lists the tools of a server if it lacks the given tool', async () => {
    expect(await run(['call', 'refunds', '-u', urls[0] ?? ''])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('refund, place, both, truck'),
    });
  });
});

describe('the texts of a server', () => {
  it('reach the terminal without control characters', async () => {
    const clear = '\u001B[2J\u009B1A\u0007';
    const hostile = saga({ name: 'hostile', version: '1' }, function* () {
      yield* elicit('sure', { message: `Sure?${clear}`, schema: z.object({ sure: z.boolean() }) });
      return `done${clear}`;
    });
    const server = serve({
      ...serveSagas({ name: 'hostile', version: '1', sagas: [hostile], keys }),
      port: 0,
      hostname: '127.0.0.1',
      silent: true,
    });
    await server.ready();
    const call = ['call', 'hostile', '-u', new URL('/mcp', server.url).href];
    const [asked, done] = [await run(call), await run([...call, '--yes'])];
    await server.close(true);
    expect(asked.errors).toContain('Sure?');
    expect(done.printed).toContain('done');
    expect(asked.errors + done.printed + done.errors).not.toMatch(/[^\P{Cc}\n]/u);
  });
});

describe('a server of MCP without sagas', () => {
  it('answers a call, and is named by the doctor', async () => {
    const handler = createMcpHandler(() => {
      const mcp = new McpServer({ name: 'other', version: '3' });
      mcp.registerTool('ping', {}, () => ({ content: [{ type: 'text', text: 'pong' }] }));
      return mcp;
    });
    const other = serve({ fetch: handler.fetch, port: 0, hostname: '127.0.0.1', silent: true });
    await other.ready();
    const { href } = new URL('/mcp', other.url);
    expect(await run(['call', 'ping', '-u', href])).toMatchObject({ code: 0, printed: 'pong' });
    const { code, printed } = await run(['doctor', '-u', href]);
    await other.close(true);
    expect(code).toBe(1);
    expect(printed.split('\n')).toEqual([
      'ok    server: other 3 answers, with 1 tool',
      'FAIL  sagas: no saga methods: not a saga server, or its sagas are not attached',
      expect.stringMatching(/^ok {4}clock: /),
      'ok    clients: none seen; mcp-saga dev lists them, and --studio with the page of createStudio',
    ]);
  });
});

describe('mcp-saga doctor', () => {
  it('reports two valid servers', async () => {
    for (const url of urls) {
      const { code, printed } = await run(['doctor', '-u', url, '--json'], {
        environment: { SAGA_KEYS: keys },
      });
      expect(code).toBe(0);
      const { checks } = JSON.parse(printed) as {
        readonly checks: readonly { readonly name: string }[];
      };
      expect(checks.map(({ name }) => name)).toEqual([
        'keys',
        'server',
        'sagas',
        // One for clients of MCP 2025, and one for those with tasks.
        'limits',
        'limits',
        'clock',
        'clients',
      ]);
    }
  });

  it('reports bad keys beside a valid server', async () => {
    expect(
      await run(['doctor', '-u', urls[0] ?? ''], { environment: { SAGA_KEYS: 'k1:x' } }),
    ).toMatchObject({
      code: 1,
    });
  });

  it('distinguishes a stopped server from a server without MCP', async () => {
    const other = createServer((_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { readonly port: number };
    const args = ['doctor', '-u', `http://127.0.0.1:${port}/mcp`, '--json'];
    expect(await run(args)).toMatchObject({ code: 3, printed: expect.stringContaining('not_mcp') });
    await new Promise((resolve) => other.close(resolve));
    expect(await run(args)).toMatchObject({
      code: 3,
      printed: expect.stringContaining('unreachable'),
    });
  });

  it('reports a wrong clock', async () => {
    const app = serveSagas({ name: 'shop', version: '1', sagas: [refund], keys });
    const late = serve({
      port: 0,
      hostname: '127.0.0.1',
      silent: true,
      fetch: async (request) => {
        const response = await app.fetch(request);
        response.headers.set('date', new Date(Date.now() - 3_600_000).toUTCString());
        return response;
      },
    });
    await late.ready();
    const { code, printed } = await run(['doctor', '-u', new URL('/mcp', late.url).href, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(printed)).toMatchObject({
      checks: expect.arrayContaining([expect.objectContaining({ name: 'clock', ok: false })]),
    });
    await late.close(true);
  });

  it('fails without options', async () => {
    expect(await run(['doctor'])).toMatchObject({ code: 2 });
  });
});
