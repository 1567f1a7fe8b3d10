import { memoryStore, SagaHostError } from '@mcp-saga/server';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { toWireError } from '../../src/wire/wire-error.ts';
import { testClock } from '../fixtures/clock.ts';
import { deploys, hostForAll, ways, type Way } from '../fixtures/ways.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

expectLogs(restartLog);

const user = 'ada';
const answers = { target: { action: 'accept', content: { target: 'here' } } };

/** Continues a saga once while the server has a problem, and once after it. */
async function goOnTwice(
  way: Way,
  {
    matters,
    options,
  }: {
    readonly matters: (does: boolean) => void;
    readonly options: Parameters<typeof hostForAll>[1];
  },
) {
  const ran: string[] = [];
  const served = hostForAll([deploys(ran)], options);
  const token = await way.begin(served, {}, user);
  matters(true);
  const first = await way.goOn(served, token, answers, { user });
  expect(ran).toEqual(['build']);
  matters(false);
  const again = await way.goOn(served, token, answers, { user });
  // The token is still valid. A resumable request carries no answers, and the error asks for them.
  if (way.name === 'resumable requests')
    expect(again.last.error?.data).toMatchObject({ reason: 'input_required' });
  else expect(ran).toEqual(['build', 'deploy here']);
  return { error: first.last.error, told: served.told };
}

function downGuard() {
  const clock = testClock();
  let isDown = false;
  return {
    matters: (does: boolean) => void (isDown = does),
    options: {
      clock,
      store: storeWithGuard(
        (guard) => ({
          begin: async (claim) => {
            if (isDown) throw new RangeError('redis://:secret@10.0.0.7 is gone');
            return await guard.begin(claim);
          },
        }),
        memoryStore({ clock }),
      ),
    },
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

// A task returns at once, and runs after the response.
describe.each(ways.filter(({ name }) => name !== 'tasks'))('by $name', (way) => {
  test('[T13] a failing guard is a server error with the reason guard_down', async () => {
    const { error, told } = await goOnTwice(way, downGuard());
    expect(error).toEqual({
      code: -32_603,
      message: 'The server cannot continue the call now. Send the request again later.',
      data: { reason: 'guard_down' },
    });
    expect(told.errors).toMatchObject([
      {
        code: 'guard_down',
        message: 'The guard cannot be reached: RangeError.',
        cause: { message: 'redis://:secret@10.0.0.7 is gone' },
      },
    ]);
  });

  test('[T13] the log names the guard, and not the error that it threw', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    const down = downGuard();
    await goOnTwice(way, { ...down, options: { ...down.options, hooks: {} } });
    expect(error.mock.calls).toEqual([
      [
        expect.stringMatching(
          /The guard cannot be reached: RangeError\..* the cause\. .*errors\.md#guard_down$/,
        ),
      ],
    ]);
  });

  test('a rejecting rateLimit is a server error with the reason rate_limited', async () => {
    let isFull = false;
    const clock = testClock();
    const { error } = await goOnTwice(way, {
      matters: (does) => void (isFull = does),
      options: { clock, store: memoryStore({ clock }), auth: { rateLimit: () => !isFull } },
    });
    expect(error).toEqual({
      code: -32_603,
      message: 'Too many requests. Send the request again later.',
      data: { reason: 'rate_limited' },
    });
  });
});

test.each([
  ['guard_down', -32_603],
  ['busy', -32_603],
  ['rate_limited', -32_603],
  ['forbidden', -32_602],
  ['version_gone', -32_603],
] as const)('%s is sent as %i, with its reason', (reason, code) => {
  const frozen = { message: '', reason: '' };
  expect(
    toWireError(new SagaHostError(reason, 'So it is.'), frozen, () => undefined),
  ).toMatchObject({
    code,
    message: 'So it is.',
    data: { reason },
  });
});
