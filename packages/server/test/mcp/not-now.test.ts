import { memoryGuard, SagaHostError } from '@mcp-saga/server';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { toWireError } from '../../src/wire/wire-error.ts';
import { testClock } from '../fixtures/clock.ts';
import { deploys, hostForAll, ways, type Way } from '../fixtures/ways.ts';

const user = 'ada';
const answers = { target: { action: 'accept', content: { target: 'here' } } };

/** Goes on with a saga once something is the matter with the server, and once it is not any more. */
async function goOnTwice(
  way: Way,
  {
    matters,
    options,
  }: { readonly matters: (does: boolean) => void; readonly options: Parameters<typeof hostForAll>[1] },
) {
  const ran: string[] = [];
  const served = hostForAll([deploys(ran, 'refuse')], options);
  const token = await way.begin(served, {}, user);
  matters(true);
  const first = await way.goOn(served, token, answers, { user });
  expect(ran).toEqual(['build']);
  matters(false);
  const again = await way.goOn(served, token, answers, { user });
  // The token is as good as before. By a resumable request it brings no answers, and is told to.
  if (way.name === 'resumable requests')
    expect(again.last.error?.data).toMatchObject({ reason: 'input_required' });
  else expect(ran).toEqual(['build', 'deploy here']);
  return { error: first.last.error, told: served.told };
}

function downGuard() {
  const clock = testClock();
  const guard = memoryGuard({ clock });
  let isDown = false;
  return {
    matters: (does: boolean) => void (isDown = does),
    options: {
      clock,
      guard: {
        store: {
          ...guard,
          begin: async (claim: Parameters<typeof guard.begin>[0]) => {
            if (isDown) throw new RangeError('redis://:secret@10.0.0.7 is gone');
            return await guard.begin(claim);
          },
        },
      },
    },
  };
}

afterEach(() => {
  vi.restoreAllMocks();
});

// A task is answered at once, and runs behind that.
describe.each(ways.filter(({ name }) => name !== 'tasks'))('by $name', (way) => {
  test('[T13] a guard that is down is an error of the server, and says so in a word', async () => {
    const { error, told } = await goOnTwice(way, downGuard());
    expect(error).toEqual({
      code: -32_603,
      message: 'The server cannot go on with this call now. Send it again later.',
      data: { reason: 'guard_down' },
    });
    expect(told.errors).toMatchObject([
      {
        code: 'guard_down',
        message: 'The guard cannot be asked: RangeError.',
        cause: { message: 'redis://:secret@10.0.0.7 is gone' },
      },
    ]);
  });

  test('[T13] the console says that it is the guard, and not what it threw', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    const down = downGuard();
    await goOnTwice(way, { ...down, options: { ...down.options, hooks: {} } });
    expect(error.mock.calls).toEqual([
      ['mcp-saga: The guard cannot be asked: RangeError. Give the host hooks.onError to see it.'],
    ]);
  });

  test('a host that admits nobody now is an error of the server, and says so in a word', async () => {
    let isFull = false;
    const clock = testClock();
    const { error } = await goOnTwice(way, {
      matters: (does) => void (isFull = does),
      options: { clock, guard: { store: memoryGuard({ clock }) }, auth: { rateLimit: () => !isFull } },
    });
    expect(error).toEqual({
      code: -32_603,
      message: 'Not now. Send it again later.',
      data: { reason: 'not_admitted' },
    });
  });
});

test.each([
  ['guard_down', -32_603],
  ['busy', -32_603],
  ['not_admitted', -32_603],
  ['forbidden', -32_602],
  ['version_gone', -32_603],
] as const)('%s is answered as %i, with its word', (reason, code) => {
  const frozen = { message: '', reason: '' };
  expect(toWireError(new SagaHostError(reason, 'So it is.'), frozen, () => undefined)).toMatchObject({
    code,
    message: 'So it is.',
    data: { reason },
  });
});
