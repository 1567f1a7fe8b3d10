import { afterEach, expect, test, vi } from 'vitest';
import {
  callSaga,
  type Clock,
  resumeSaga,
  SagaCallAborted,
  SagaRoundsExceeded,
} from '../src/index.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { connections } from './fixtures/connections.ts';
import { done, form, ScriptedServer, suspended } from './fixtures/scripted-server.ts';
import { thrownBy } from './fixtures/thrown-by.ts';

const call = { name: 'ship' };

afterEach(() => {
  vi.useRealTimers();
});

/** A clock on which a sleep takes no time but moves the hands. */
function fastClock(): Clock & { readonly slept: number[] } {
  const slept: number[] = [];
  let now = 1_000_000;
  return {
    slept,
    now: () => now,
    sleep: async (ms) => {
      slept.push(ms);
      now += ms;
    },
  };
}

test.for(connections)(
  'waits as the server asks, and resumes without answers: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([
      suspended('t1', [form('first')]),
      suspended('t2', [], { retryAfterMs: 30_000 }),
      suspended('t3', []),
      suspended('t4', [], { retryAfterMs: 0 }),
      done('ok'),
    ]);
    const { client, close } = await connect(server);
    const clock = fastClock();
    const yes = { action: 'accept', content: { value: 'yes' } } as const;

    await callSaga(client, call, { clock, handlers: { elicitation: () => yes } });

    expect(clock.slept).toStrictEqual([30_000]);
    const completedSteps = [{ stepId: 'first', result: yes }];
    expect(server.sent.slice(1).map(({ params }) => params)).toStrictEqual(
      ['t1', 't2', 't3', 't4'].map((sagaToken) => ({ sagaToken, completedSteps })),
    );
    await close();
  },
);

test.for(connections)(
  'sends no answer again after a wait with `news: only`: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([
      suspended('t1', [form('first')]),
      suspended('t2', [], { retryAfterMs: 5 }),
      done('ok'),
    ]);
    const { client, close } = await connect(server);

    await callSaga(client, call, {
      clock: fastClock(),
      news: 'only',
      handlers: { elicitation: () => ({ action: 'decline' }) },
    });

    expect(server.sent.at(-1)?.params).toStrictEqual({ sagaToken: 't2', completedSteps: [] });
    await close();
  },
);

test.for(connections)(
  'can be aborted during a wait, and later waits for the rest: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([suspended('t1', [], { retryAfterMs: 30_000 }), done('ok')]);
    const { client, close } = await connect(server);
    const user = new AbortController();
    const stuck: Clock = {
      now: () => 0,
      sleep: () => {
        setImmediate(() => user.abort());
        return new Promise(() => {});
      },
    };

    const error = await thrownBy(
      SagaCallAborted,
      callSaga(client, call, { clock: stuck, signal: user.signal }),
    );
    expect(error.saga).toMatchObject({ retryAt: 30_000 });
    const slept: number[] = [];
    const later: Clock = { now: () => 20_000, sleep: async (ms) => void slept.push(ms) };
    await resumeSaga(client, JSON.parse(JSON.stringify(error.saga)), { clock: later });

    expect(slept).toStrictEqual([10_000]);
    await close();
  },
);

test.for(connections)('counts a wait as a round: $name', async ({ connect }) => {
  const server = new ScriptedServer([suspended('t1', []), suspended('t2', []), done('ok')]);
  const { client, close } = await connect(server);

  const error = await thrownBy(SagaRoundsExceeded, callSaga(client, call, { maxRounds: 1 }));

  expect(error.saga).toMatchObject({ turn: 2 });
  await close();
});

test('the clock sleeps longer than the longest timer of the runtime', async () => {
  vi.useFakeTimers();
  const month = 30 * 24 * 3_600_000;
  let awake = false;
  const sleeping = systemClock.sleep(month, new AbortController().signal).then(() => {
    awake = true;
  });

  await vi.advanceTimersByTimeAsync(month - 1);
  expect(awake).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await sleeping;
  expect(awake).toBe(true);
});

test('the clock wakes up at an abort, without a timer left', async () => {
  vi.useFakeTimers();
  const user = new AbortController();
  const sleeping = systemClock.sleep(1000, user.signal);

  expect(vi.getTimerCount()).toBe(1);
  user.abort();
  await sleeping;

  expect(vi.getTimerCount()).toBe(0);
  expect(systemClock.now()).toBe(Date.now());
});
