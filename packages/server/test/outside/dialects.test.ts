import { approval, memoryStore, saga, type Program } from '@mcp-saga/server';
import { approval as approvalInMachine, machineSaga } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { toCallResult } from '../fixtures/calling.ts';
import { testClock } from '../fixtures/clock.ts';
import { connections } from '../fixtures/connections.ts';
import { hostOf, type TestHost } from '../fixtures/host.ts';
import type { RawAnswer } from '../fixtures/raw.ts';
import { knowsTasks } from '../fixtures/task-client.ts';
import { hostForAll, send } from '../fixtures/ways.ts';

const waiting = 'Waiting for approval: manager.';
const outside = { url: 'https://shop.example' };
const name = 'deploys';

const options = { name, version: '1', task: 'prefer' } as const;
const question = (urls: string[]) =>
  ({
    message: 'Deploy?',
    link: 'accept',
    timeout: 60_000,
    deliver: ({ url }: { readonly url: string }) => void urls.push(url),
  }) as const;

/** The same saga of both kinds. */
const kinds: readonly (readonly [kind: string, make: (urls: string[]) => Program])[] = [
  [
    'a generator',
    (urls) =>
      saga(options, function* () {
        const decision = yield* approval('manager', question(urls));
        return decision.approved ? 'approved' : decision.reason;
      }),
  ],
  [
    'a machine',
    (urls) => {
      const machine = setup({
        types: { context: {} as { result: string }, output: {} as string },
        actors: { ask: approvalInMachine(question(urls)) },
      }).createMachine({
        context: { result: '' },
        initial: 'asking',
        states: {
          asking: {
            invoke: {
              id: 'manager',
              src: 'ask',
              onDone: {
                target: 'over',
                actions: assign({
                  result: ({ event }) => (event.output.approved ? 'approved' : event.output.reason),
                }),
              },
            },
          },
          over: { type: 'final' },
        },
        output: ({ context }) => context.result,
      });
      return machineSaga(options, machine);
    },
  ],
];

async function approve({ host }: Pick<TestHost, 'host'>, url: string | undefined): Promise<void> {
  const body = new URLSearchParams({ decision: 'approve' });
  const request = new Request(url ?? '', { method: 'POST', body });
  expect((await host.answer(request, { caller: 'anonymous' })).status).toBe(200);
}

function resultOf({ last, text }: RawAnswer): Record<string, unknown> {
  if (last.result === undefined) throw new Error(`No result, but ${text}`);
  return last.result;
}

describe.each(kinds)(
  'a client of %s gets the message of a waiting approval and its result by',
  (_, make) => {
    async function begun(): Promise<TestHost & { readonly urls: string[] }> {
      const clock = testClock();
      const urls: string[] = [];
      const store = memoryStore({ clock });
      const changes = {
        clock,
        store,
        ...outside,
        starts: { unkeyed: 'run' },
      } as const;
      return { ...hostForAll([make(urls)], changes), urls };
    }

    it('saga methods', async () => {
      const test = await begun();
      const turn = resultOf(await send(test, 'tools/callSaga', { name, arguments: {} }));
      expect(turn).toMatchObject({
        state: 'suspended',
        steps: [],
        retryAfterMs: 2_000,
        content: [{ type: 'text', text: waiting }],
      });
      await approve(test, test.urls[0]);
      const { sagaToken } = turn;
      const result = resultOf(
        await send(test, 'tools/resumeSaga', { sagaToken, completedSteps: [] }),
      );
      expect(toCallResult(result).text).toBe('approved');
    });

    it.each([
      ['multi round-trip', { elicitation: {} }],
      ['resume tokens', {}],
      ['resumable requests', { elicitation: {}, resumableRequests: {} }],
    ])('%s', async (_dialect, capabilities) => {
      const test = await begun();
      const first = toCallResult(
        resultOf(await send(test, 'tools/call', { name, arguments: {} }, { capabilities })),
      );
      expect(first.text).toContain(waiting);
      expect(first.result['_meta']).toMatchObject({
        'io.github.mcp-saga/saga': { retryAfterMs: 2_000 },
      });
      await approve(test, test.urls[0]);
      const again = { name, arguments: { resumeToken: first.token } };
      expect(
        toCallResult(resultOf(await send(test, 'tools/call', again, { capabilities }))).text,
      ).toBe('approved');
    });

    it('tasks', async () => {
      const test = await begun();
      const capabilities = knowsTasks;
      const { taskId } = resultOf(
        await send(test, 'tools/call', { name, arguments: {} }, { capabilities }),
      );
      const get = async (): Promise<Record<string, unknown>> =>
        resultOf(await send(test, 'tasks/get', { taskId }, { capabilities }));
      expect(await get()).toMatchObject({ status: 'working', statusMessage: waiting });
      await approve(test, test.urls[0]);
      test.clock.now += 2_000;
      await get();
      expect(JSON.stringify(await get())).toContain('approved');
    });
  },
);

const inSessions = connections.filter(({ name: of }) => of.includes('in memory'));

describe.each(kinds)('%s', (_, make) => {
  it.each(inSessions)('waits within the call of a session, $name', async ({ connect }) => {
    const clock = testClock();
    const urls: string[] = [];
    // The answer arrives while the request waits.
    const sleep = async (ms: number): Promise<void> => {
      clock.now += ms;
      if (urls.length === 1) await approve(test, urls.shift());
    };
    const test = hostOf(make(urls), {
      clock,
      store: memoryStore({ clock }),
      ...outside,
      testing: { environment: 'production', sleep },
    });
    const { client, close } = await connect(test.host);
    const { content } = (await client.callTool({ name, arguments: {} })) as {
      content: readonly object[];
    };
    expect(content).toEqual([{ type: 'text', text: 'approved' }]);
    await close();
  });
});
