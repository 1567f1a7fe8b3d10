import { inspect } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import {
  createSagaHost,
  elicit,
  generateKey,
  memoryGuard,
  publicMessageOf,
  saga,
  SagaHostError,
  step,
  type SagaHost,
} from '../../src/index.ts';
import { asking } from '../fixtures/sagas.ts';
import { changed, type HostChanges } from '../fixtures/host-changes.ts';
import { coreOf } from '../../src/saga-host.ts';

const keys = generateKey();
const failing = saga({ name: 'failing', version: '1' }, function* () {
  yield* step('charge', () => {
    throw new RangeError('card 4711');
  });
  return '';
});
const hostOf = (changes: HostChanges = {}) =>
  createSagaHost(
    changed(
      { sagas: [failing, asking()], keys, audience: 'a', testing: { environment: 'production' } },
      changes,
    ),
  );

let asked = 0;
const restless = saga({ name: 'restless', version: '1' }, function* () {
  asked += 1;
  yield* elicit('sure', { message: `Pay before ${asked}?`, schema: z.object({ card: z.string() }) });
  return '';
});

/** Answers so many times in vain. */
async function restlessTurns(
  host: SagaHost,
  turns: number,
  after: () => unknown = () => undefined,
): Promise<void> {
  let turn = await host.start('restless', {});
  for (let count = 0; count < turns; count += 1) {
    const token = turn.status === 'suspended' ? turn.token : '';
    const result = { action: 'accept', content: { card: '4711' } } as const;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    turn = await host.resume(token, [{ stepId: 'sure', result }]);
    after();
  }
  expect(turn).toMatchObject({ status: 'suspended' });
}

afterEach(() => {
  vi.restoreAllMocks();
});

test('[R2] shows in production which mistake of its author a saga fails with, and no message of its steps', async () => {
  const error = vi.spyOn(console, 'error').mockReturnValue();
  const wrong = saga({ name: 'wrong', version: '1' }, function* () {
    yield 'a command' as never;
    return '';
  });
  const cyclic = saga({ name: 'cyclic', version: '1' }, function* () {
    const one: Record<string, unknown> = { card: '4711' };
    one['self'] = one;
    yield* step('loop', () => one as never);
    return '';
  });
  const host = hostOf({ sagas: [wrong, cyclic, failing] });
  for (const name of ['wrong', 'cyclic', 'failing']) {
    // oxlint-disable-next-line no-await-in-loop -- the lines come in this order
    await host.start(name, {});
  }
  const lines = error.mock.calls.map(([line]) => String(line));
  expect(lines[0]).toContain('The saga yielded a string');
  expect(lines[1]).toContain('cycle');
  expect(lines[2]).toContain('step_failed');
  expect(lines.join()).not.toContain('4711');
});

describe('a host without hooks', () => {
  test('says in the console that a saga failed, and where, but not what was thrown', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    await hostOf().start('failing', {});
    expect(error.mock.calls).toEqual([
      [
        "mcp-saga: 'failing' failed in turn 1. StepError (step_failed) at step 'charge'. hooks.onTurn gets the error.",
      ],
    ]);
  });

  const card = '4111 1111\n\u001b[31mmcp-saga: all is well';
  const keyed = (fails: boolean) =>
    saga({ name: 'keyed', version: '1' }, function* () {
      const { name } = yield* elicit('name', { message: 'Name?', schema: z.object({ name: z.string() }) });
      yield* step(
        'charge',
        () => {
          if (fails) throw Object.assign(new Error(name), { code: `E ${name}` });
          return 'x'.repeat(20_000);
        },
        { key: name },
      );
      yield* elicit('more', { message: 'More?', schema: z.object({}) });
      return '';
    });
  const answered = async (host: SagaHost): Promise<void> => {
    const turn = await host.start('keyed', {});
    const result = { action: 'accept', content: { name: card } } as const;
    await host.resume(turn.status === 'suspended' ? turn.token : '', [{ stepId: 'name', result }]);
  };

  test('shows neither the key of a step nor the code of its error, which may be made of an answer', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    await answered(hostOf({ sagas: [keyed(true)] }));
    expect(error.mock.calls).toEqual([
      ["mcp-saga: 'keyed' failed in turn 2. StepError at step 'charge(*)'. hooks.onTurn gets the error."],
    ]);
  });

  test('warns of a large step without its key', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const told: string[] = [];
    await answered(hostOf({ sagas: [keyed(false)] }));
    await answered(hostOf({ sagas: [keyed(false)], hooks: { onWarning: (said) => told.push(said) } }));
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^mcp-saga: The token of saga 'keyed' .* Largest: step 'charge\(\*\)' \(/)],
    ]);
    expect(told).toEqual([expect.stringContaining("Largest: step 'charge(*)' (")]);
  });

  test('begins no line, and tells a terminal nothing, where a name does', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const odd = saga({ name: 'odd\n\u009b31m\u2028\u202e', version: '1' }, function* () {
      yield* step('x', () => 'x'.repeat(20_000));
      yield* elicit('sure', { message: `${(asked += 1)}?`, schema: z.object({}) });
      throw new Error('no');
    });
    const host = hostOf({ sagas: [odd] });
    const turn = await host.start(odd.name, {});
    const token = turn.status === 'suspended' ? turn.token : '';
    await host.resume(token, [{ stepId: 'sure', result: { action: 'accept', content: {} } }]);
    coreOf(host).observer.hooks.onTurn({
      saga: odd.name,
      sagaId: '',
      turn: 3,
      status: 'failed',
      error: new Error('x'),
      tokenBytes: 0,
      durationMs: 0,
    });
    coreOf(host).observer.hooks.onError(new SagaHostError('busy', 'a\nb'));
    const said = [...warn.mock.calls, ...error.mock.calls].flat().map(String);
    expect(said).toEqual([
      expect.stringContaining("saga 'odd\\u000a\\u009b31m\\u2028\\u202e' has"),
      expect.stringContaining("'odd\\u000a\\u009b31m\\u2028\\u202e' asks 'sure' otherwise"),
      expect.stringContaining("'odd\\u000a\\u009b31m\\u2028\\u202e' failed in turn 3"),
      'mcp-saga: a\\u000ab Give the host hooks.onError to see it.',
    ]);
  });

  test('shows the error in development', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    await hostOf({ testing: { environment: 'development' } }).start('failing', {});
    expect(error.mock.calls[0]?.[1]).toMatchObject({ name: 'RangeError', message: 'card 4711' });
  });

  test('[T5] says once a minute for each reason that tokens are refused', async () => {
    let time = 1_000_000;
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const host = hostOf({ testing: { clock: () => time } });
    const stranger = createSagaHost({ sagas: [asking()], keys: generateKey(), audience: 'a', hooks: {} });
    const turn = await stranger.start('asking', {});
    const token = turn.status === 'suspended' ? turn.token : '';
    for (const wait of [0, 1_000, 60_000]) {
      time += wait;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(host.resume(token)).rejects.toThrow('Invalid or expired sagaToken');
    }
    expect(warn.mock.calls.map(([message]) => String(message))).toEqual([
      expect.stringContaining('a token was refused: undecryptable'),
      expect.stringContaining('a token was refused: undecryptable'),
    ]);
  });

  test.each(['production', 'staging', 'development'])(
    '[T6, W4] says that a question never takes an answer, where NODE_ENV is %s, and neither question nor answer',
    async (environment) => {
      const warn = vi.spyOn(console, 'warn').mockReturnValue();
      const host = hostOf({ sagas: [restless], testing: { environment } });
      await restlessTurns(host, 1);
      const said = warn.mock.calls.map(([message]) => String(message));
      expect(said).toEqual([expect.stringContaining("'restless' asks 'sure' otherwise than before")]);
      expect(said[0]).toMatch(/now\(\).*random\(\)/);
      expect(said.join()).not.toMatch(/Pay|4711/);
    },
  );

  test('[W4] says once a minute for each saga that a question never takes an answer', async () => {
    let time = 0;
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const host = hostOf({ sagas: [restless], testing: { clock: () => time } });
    await restlessTurns(host, 3, () => (time += 59_999));
    expect(warn).toHaveBeenCalledTimes(2);
  });

  test.each<[string, string, (host: SagaHost, token: string) => unknown]>([
    ['malformed', 'It is no token', (host) => host.resume('nonsense')],
    ['undecryptable', 'another `audience`', (host, token) => host.resume(`${token.slice(0, -4)}AAAA`)],
    [
      'arguments',
      'other arguments than the one that started the saga',
      (host, token) =>
        coreOf(host).resume(token, [], {}, { entry: { target: 'asking', args: { other: 1 } } }),
    ],
    [
      'principal',
      '`principal` of this request is another',
      (host, token) => host.resume(token, [], { caller: { principal: { subject: 'ada', client: 'app' } } }),
    ],
  ])('[T5] says in development what makes a token %s, and nowhere else', async (reason, why, use) => {
    const short = `mcp-saga: a token was refused: ${reason}. Give the host hooks.onReject to count them.`;
    for (const environment of ['production', 'test', undefined, 'development']) {
      const warn = vi.spyOn(console, 'warn').mockReturnValue();
      const host = hostOf({ testing: { environment } });
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const turn = await host.start('asking', {});
      const token = turn.status === 'suspended' ? turn.token : '';
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(use(host, token)).rejects.toThrow(/^Invalid or expired sagaToken$/);
      const said = String(warn.mock.calls);
      if (environment === 'development') expect(said).toContain(why);
      else expect(said).toBe(short);
      expect(said).toMatch(/^[^\n]*hooks\.onReject to count them\.$/);
      warn.mockRestore();
    }
  });

  test('[E8] says in development why a cancel token that comes too early is refused', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    let cancelToken = '';
    const holds = saga({ name: 'holds', version: '1', forks: 'refuse' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
      return '';
    });
    const host = hostOf({
      sagas: [holds],
      guard: { store: memoryGuard() },
      testing: { environment: 'development' },
      hooks: { onSuspended: (facts) => (cancelToken = facts.cancelToken) },
    });
    await host.start('holds', {});
    await expect(host.cancel(cancelToken)).rejects.toThrow('Invalid or expired sagaToken');
    expect(String(warn.mock.calls)).toContain('a cancel token opens after its cancelAfter');
  });

  test.each(['production', 'development'])(
    '[R5] [E10] tells the operator, not the client, how to serve a version that is gone: %s',
    async (environment) => {
      const error = vi.spyOn(console, 'error').mockReturnValue();
      const turn = await hostOf().start('asking', {});
      const newer = hostOf({ sagas: [asking('asking', '2')], testing: { environment } });
      const gone = newer.resume(turn.status === 'suspended' ? turn.token : '');
      const refused = await gone.catch((thrown: unknown) => thrown);
      const advice = "This host does not serve version '1' of 'asking', or its `until` has passed. ";
      expect(
        error.mock.calls
          .flat()
          .map((part) => inspect(part))
          .join(' '),
      ).toContain(advice);
      expect(refused).toMatchObject({ code: 'version_gone', public: true });
      expect(publicMessageOf('asking', refused)).not.toContain('`');
    },
  );

  test('[T5] goes on saying that tokens are refused where the clock is set back', async () => {
    let time = 1e12;
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const host = hostOf({ testing: { clock: () => time } });
    for (const wait of [0, -3_600_000, 59_999, 1]) {
      time += wait;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(host.resume('nonsense')).rejects.toThrow('Invalid or expired sagaToken');
    }
    expect(warn).toHaveBeenCalledTimes(3);
  });

  test('[W4] says nothing of an answer that its client can mend', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const host = hostOf();
    const turn = await host.start('asking', {});
    const answers = ['unknown', 'target'].map((stepId) => ({
      stepId,
      result: { action: 'accept', content: {} },
    }));
    await host.resume(turn.status === 'suspended' ? turn.token : '', answers);
    expect(warn).not.toHaveBeenCalled();
  });
});
