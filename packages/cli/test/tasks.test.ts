import { elicit, memoryStore, poll, saga, sample, step } from '@mcp-saga/server';
import { serveSagas, type ServeSagasOptions } from '@mcp-saga/server/serve';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serve, type Server } from 'srvx';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { longestWait } from '../../../test/support/patience.ts';
import { run, type RunOptions } from './command-line.ts';
import { keys, refund } from './fixtures/sagas.ts';
import { expectLogs } from '../../../test/support/logs.ts';

const undone: string[] = [];
/** `true` when the command has shown the status. */
let isStatusShown = true;

const report = saga(
  {
    name: 'report',
    version: '1',
    reuse: 'ok',
    task: 'prefer',
    output: z.object({ rows: z.number() }),
  },
  function* () {
    const undo = (): void => void undone.push('reserve');
    yield* step('reserve', () => 'a warehouse', { compensate: undo });
    const { sure } = yield* elicit('confirm', {
      message: 'Sure?',
      schema: z.object({ sure: z.boolean() }),
    });
    const rows = yield* poll('rows', () => (isStatusShown ? 7 : undefined), {
      every: 10,
      timeout: longestWait,
      report: () => 'The warehouse counts.',
    });
    return { rows: sure ? rows : 0 };
  },
);

const pay = saga({ name: 'pay', version: '1', task: 'prefer' }, function* () {
  yield* step('open', () => 'an account');
  const { amount } = yield* elicit('how-much', {
    message: 'How much?',
    schema: z.object({ amount: z.number().refine((value) => value > 0, 'not free') }),
  });
  return `paid ${amount}`;
});

const advise = saga({ name: 'advise', version: '1', task: 'require' }, function* () {
  yield* step('read', () => 'a book');
  const { content } = yield* sample('opinion', {
    maxTokens: 100,
    messages: [{ role: 'user', content: { type: 'text', text: 'Is 9 EUR much?' } }],
  });
  return content.type === 'text' ? content.text : '';
});

const failing = saga({ name: 'failing', version: '1', task: 'prefer' }, function* () {
  return yield* step('charge', (): string => {
    throw new Error('no card');
  });
});

let servers: readonly Server[] = [];
let [url, withoutTasks] = ['', ''];

beforeAll(async () => {
  const served = (options: Partial<ServeSagasOptions>): Server =>
    serve({
      ...serveSagas({ name: 'shop', version: '1', sagas: [refund], keys, ...options }),
      port: 0,
      hostname: '127.0.0.1',
      silent: true,
    });
  const anonymous = { tasks: 'accept' } as const;
  servers = [
    served({ sagas: [report, pay, advise, failing, refund], anonymous, store: memoryStore() }),
    served({}),
  ];
  await Promise.all(servers.map((server) => server.ready()));
  [url = '', withoutTasks = ''] = servers.map((server) => new URL('/mcp', server.url).href);
});
afterAll(() => Promise.all(servers.map((server) => server.close(true))));

const call = (args: readonly string[], options?: RunOptions): ReturnType<typeof run> =>
  run(['call', ...args, '--url', url, '--as', 'tasks'], options);

describe('mcp-saga call --as tasks', () => {
  it('follows a task to its result, with its questions and its status', async () => {
    isStatusShown = false;
    const onNote = (text: string): void => {
      isStatusShown ||= text.includes('The warehouse counts.');
    };
    const { code, printed, errors } = await call(['report', '--answer', 'sure=true'], { onNote });
    expect({ code, printed }).toEqual({ code: 0, printed: '{"rows":7}' });
    expect(errors).toMatch(
      /^task: working\ntask: input_required\nconfirm: answered by the options\n[^]*task: working, The warehouse counts\.$/,
    );
  });

  it('prints the result as JSON', async () => {
    const { code, printed } = await call(['report', '--answer', 'confirm=false', '--json']);
    expect({ code, ...JSON.parse(printed) }).toMatchObject({
      code: 0,
      structuredContent: { rows: 0 },
    });
  });

  it("answers the questions to the client's model", async () => {
    const answered = await call(['advise', '--model-answer', 'No']);
    expect(answered).toMatchObject({ code: 0, printed: 'No' });
  });

  it('fails with a failed tool', async () => {
    expectLogs(/'failing' failed in turn 2.*step_failed/);
    expect(await call(['failing'])).toMatchObject({
      code: 1,
      printed: "'failing' failed at step 'charge'.",
    });
    const { code, printed } = await call(['failing', '--json']);
    expect({ code, ...JSON.parse(printed) }).toMatchObject({ code: 1, isError: true });
  });

  it('explains a missing answer, and cancels the task', async () => {
    undone.length = 0;
    const { code, errors } = await call(['report']);
    expect(code).toBe(1);
    expect(errors).toMatch(
      /Asked the server to cancel the task\.\n'confirm' asks: Sure\? .*--answer sure=/,
    );
    await expect.poll(() => undone).toEqual(['reserve']);
  });

  it('ends with the reason of the server if an option is refused', async () => {
    const { code, printed, errors } = await call(['pay', '--answer=amount=0', '--json']);
    expect({ code, ...JSON.parse(printed) }).toEqual({
      code: 1,
      error: { code: 'answer_refused', message: expect.stringMatching(/'how-much': .*not free/) },
    });
    expect(errors).toMatch(/Asked .* to cancel/);
  });

  it('cancels the task with Ctrl-C', async () => {
    undone.length = 0;
    const stopped = new AbortController();
    const onNote = (text: string): void => {
      if (text.includes('answered by the options')) stopped.abort();
    };
    const { code, printed, errors } = await call(['report', '--yes'], {
      signal: stopped.signal,
      onNote,
    });
    expect({ code, printed }).toEqual({ code: 130, printed: '' });
    expect(errors).toMatch(/Asked .* to cancel/);
    await expect.poll(() => undone).toEqual(['reserve']);
  });

  it('prints the answer of a server that makes no task of the call', async () => {
    const answered = await call(['refund', '--arg=amount=9', '--yes']);
    expect(answered).toMatchObject({
      code: 0,
      printed: 'refunded 9',
      errors: 'elicitation: answered by the options\nThe server answered without a task.',
    });
  });

  it.each([
    ['has no tasks', () => ['--url', withoutTasks]],
    ['speaks an older version of MCP', () => ['--url', url, '--mcp', '2025-11-25']],
  ])('names the missing tasks of a server that %s', async (_, server) => {
    const called = await run(['call', 'refund', '--as', 'tasks', ...server()]);
    const message = '--as tasks: the server has no tasks, which need MCP 2026-07-28.';
    expect(called).toMatchObject({ code: 2, errors: expect.stringContaining(message) });
  });
});

describe('a task of another server', () => {
  let cancels = 0;

  /** Serves the tool `work`, whose task has these states, one after the other. */
  async function withStates(
    states: readonly object[],
    ...args: readonly string[]
  ): ReturnType<typeof run> {
    const left = [...states];
    cancels = 0;
    const task = { taskId: '1', status: 'working', createdAt: '', lastUpdatedAt: '', ttlMs: 1 };
    const handler = createMcpHandler(() => {
      const mcp = new McpServer({ name: 'other', version: '1' });
      mcp.server.registerCapabilities({ extensions: { 'io.modelcontextprotocol/tasks': {} } });
      mcp.registerTool('work', {}, () => ({ ...task, resultType: 'task' }) as never);
      const params = z.looseObject({});
      mcp.server.setRequestHandler('tasks/get', { params }, () => {
        const state = left.shift();
        if (state instanceof Error) throw state;
        return { ...task, ...state };
      });
      mcp.server.setRequestHandler('tasks/cancel', { params }, () => {
        cancels += 1;
        throw new Error('no');
      });
      return mcp;
    });
    const other = serve({ fetch: handler.fetch, port: 0, hostname: '127.0.0.1', silent: true });
    await other.ready();
    const ran = await run([
      'call',
      'work',
      '-u',
      new URL('/', other.url).href,
      '--as',
      'tasks',
      ...args,
    ]);
    await other.close(true);
    return ran;
  }

  it('fails with the error of the server, or after a cancellation', async () => {
    const failed = { status: 'failed', error: { code: -32_603, message: 'out of paper' } };
    expect(await withStates([failed])).toMatchObject({
      code: 1,
      errors: 'task: working\nThe server answers with an error: out of paper',
    });
    const cancelled = { status: 'cancelled' };
    expect(await withStates([cancelled])).toMatchObject({
      code: 1,
      errors: expect.stringContaining('The task is cancelled.'),
    });
  });

  it('does not cancel a task whose state is missing once: the task goes on', async () => {
    const { code, errors } = await withStates([new Error('busy')]);
    expect({ code, cancels }).toEqual({ code: 1, cancels: 0 });
    expect(errors).toContain('The task may continue: it was not cancelled.');
  });

  it('reports a question of an unknown kind, and a task that cannot be cancelled', async () => {
    const asking = {
      status: 'input_required',
      inputRequests: { a: { method: 'smell/rose', params: {} } },
    };
    const { code, errors } = await withStates([asking], '--yes');
    expect(code).toBe(1);
    expect(errors.split('\n').slice(-2)).toEqual([
      'The task may continue: it was not cancelled.',
      "The server asks for 'smell/rose', which has no answer.",
    ]);
    expect(cancels).toBe(1);
  });
});
