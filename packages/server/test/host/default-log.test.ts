import { inspect } from 'node:util';
import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import {
  createSagaHost,
  elicit,
  generateKey,
  promptSaga,
  publicMessageOf,
  saga,
  SagaHostError,
  step,
  type SagaHost,
} from '../../src/index.ts';
import { asking } from '../fixtures/sagas.ts';
import { changed, type HostChanges } from '../fixtures/host-changes.ts';
import { coreOf } from '../../src/saga-host.ts';
import { withoutKeys } from '@mcp-saga/core/program';
import { alterEnd } from '../../../../test/support/wire/tamper.ts';

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
      { sagas: [failing, asking()], keys, name: 'a', testing: { environment: 'production' } },
      changes,
    ),
  );

let asked = 0;
const restless = saga({ name: 'restless', version: '1' }, function* () {
  asked += 1;
  yield* elicit('sure', {
    message: `Pay before ${asked}?`,
    schema: z.object({ card: z.string() }),
  });
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
    turn = await host.resume(token, [{ stepId: 'sure', result }]);
    after();
  }
  expect(turn).toMatchObject({ status: 'suspended' });
}

afterEach(() => {
  vi.restoreAllMocks();
});

test.each([
  ['my tool', true],
  ['shop.refund', true],
  ['x'.repeat(65), true],
  ['x'.repeat(64), false],
  ['Refund_order-2', false],
])('warns outside production that clients refuse the tool name %s: %s', (name, isRefused) => {
  const warnings: string[] = [];
  const named = saga({ name, version: '1' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
    return '';
  });
  const prompt = promptSaga({ name: 'my prompt', version: '1' }, function* () {
    return yield* step('text', () => 'x');
  });
  const hooks = { onWarning: (message: string) => warnings.push(message) };
  for (const environment of ['production', 'development', 'test'])
    hostOf({ sagas: [named, prompt], hooks, testing: { environment } });
  const told = warnings.filter((warning) => warning.includes(`'${name}'`));
  expect(told).toHaveLength(isRefused ? 2 : 0);
  expect(warnings).toHaveLength(told.length);
  for (const warning of told)
    expect(warning).toMatch(
      / See docs\/reference\/troubleshooting\.md#a-client-refuses-the-tools$/,
    );
});

test('[R2] logs the kind of an authoring error in production, and no message of a step', async () => {
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
    await host.start(name, {});
  }
  const lines = error.mock.calls.map(([line]) => String(line));
  expect(lines[0]).toContain('The saga yielded a value of type string');
  expect(lines[1]).toContain('cycle');
  expect(lines[2]).toContain('step_failed');
  expect(lines.join()).not.toContain('4711');
});

describe('a host without hooks', () => {
  test('logs that an interrupted turn may have run more steps, not that it could not be undone', () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    coreOf(hostOf()).observer.hooks.onTurn({
      saga: 'failing',
      sagaId: 's',
      turn: 3,
      status: 'failed',
      uncompensated: [{ stepId: 'turn 2' }, { stepId: 'turn' }],
    } as never);
    const [unknown, named] = error.mock.calls.map(([line]) => String(line));
    expect(unknown).toContain("'failing' failed (saga ID s). More steps may have run in turn 2");
    expect(unknown).not.toContain('could not undo');
    expect(named).toContain("could not undo 'turn'");
  });

  test('logs the failed saga and its step, but not the thrown message', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    const { sagaId } = await hostOf().start('failing', {});
    expect(error.mock.calls).toEqual([
      [
        `mcp-saga: 'failing' failed in turn 1 (saga ID ${sagaId}). StepError (step_failed) at step 'charge'. hooks.onTurn gets the error. ` +
          'With NODE_ENV=development, the log shows the message.',
      ],
    ]);
  });

  const card = '4111 1111\n\u001b[31mmcp-saga: all is well';
  const keyed = (fails: boolean) =>
    saga({ name: 'keyed', version: '1' }, function* () {
      const { name } = yield* elicit('name', {
        message: 'Name?',
        schema: z.object({ name: z.string() }),
      });
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

  test('logs neither the key of a step nor its error code, which may contain an answer', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    await answered(hostOf({ sagas: [keyed(true)] }));
    expect(error.mock.calls).toEqual([
      [
        expect.stringMatching(
          /'keyed' failed in turn 2 \(saga ID [\w-]{22}\)\. StepError at step 'charge\(\*\)'\./,
        ),
      ],
    ]);
  });

  test('warns of a large step without its key', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const told: string[] = [];
    await answered(hostOf({ sagas: [keyed(false)] }));
    await answered(
      hostOf({ sagas: [keyed(false)], hooks: { onWarning: (said) => told.push(said) } }),
    );
    expect(warn.mock.calls).toEqual([
      [
        expect.stringMatching(
          /^mcp-saga: The token of saga 'keyed' .* Largest: step 'charge\(\*\)' \(/,
        ),
      ],
    ]);
    expect(told).toEqual([expect.stringContaining("Largest: step 'charge(*)' (")]);
  });

  test('escapes line breaks and terminal codes in names', async () => {
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
      // Without advice: that is for the author.
      expect.stringMatching(
        /Saga 'odd\\u000a\\u009b31m\\u2028\\u202e' changed the question.* varies between turns\. See [^ ]*$/,
      ),
      expect.stringContaining("'odd\\u000a\\u009b31m\\u2028\\u202e' failed in turn 3"),
      'mcp-saga: a\\u000ab Set hooks.onError to receive the error. See docs/reference/errors.md#busy',
    ]);
  });

  test('logs the error in development, without a hint about NODE_ENV', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    await hostOf({ testing: { environment: 'development' } }).start('failing', {});
    expect(String(error.mock.calls)).not.toContain('NODE_ENV');
    expect(error.mock.calls[0]?.[1]).toMatchObject({ name: 'RangeError', message: 'card 4711' });
  });

  test.each([['Wrong.'], ['Wrong.\nSee docs/reference/errors.md#authoring_error']])(
    'ends with one reference to the documentation for the authoring error %j',
    (message) => {
      const error = vi.spyOn(console, 'error').mockReturnValue();
      const thrown = Object.assign(new Error(message), { code: 'authoring_error' });
      coreOf(hostOf()).observer.hooks.onError(thrown);
      coreOf(hostOf({ testing: { environment: 'development' } })).observer.hooks.onError(thrown);
      const [line, shown] = error.mock.calls.map((parts) => parts.map(String).join(' '));
      expect(line).toBe(
        'mcp-saga: Wrong. Set hooks.onError to receive the error. See docs/reference/errors.md#authoring_error',
      );
      expect(shown).toMatch(
        /^(?!.*errors\.md.*errors\.md).*See docs\/reference\/errors\.md#authoring_error$/s,
      );
    },
  );

  test('[T5] reports rejected tokens once a minute for each reason', async () => {
    let time = 1_000_000;
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const host = hostOf({ testing: { clock: () => time } });
    const stranger = createSagaHost({
      sagas: [asking()],
      keys: generateKey(),
      name: 'a',
      hooks: {},
    });
    const turn = await stranger.start('asking', {});
    const token = turn.status === 'suspended' ? turn.token : '';
    for (const wait of [0, 1_000, 60_000]) {
      time += wait;
      await expect(host.resume(token)).rejects.toMatchObject({ code: 'refused' });
    }
    expect(warn.mock.calls.map(([message]) => String(message))).toEqual([
      expect.stringContaining('A token was rejected: undecryptable'),
      expect.stringContaining('A token was rejected: undecryptable'),
    ]);
  });

  test.each(['production', 'staging', 'development'])(
    '[T6, W4] warns in %s of a question that changes in each turn, without question and answer',
    async (environment) => {
      const warn = vi.spyOn(console, 'warn').mockReturnValue();
      const host = hostOf({ sagas: [restless], testing: { environment } });
      await restlessTurns(host, 1);
      const said = warn.mock.calls.map(([message]) => String(message));
      expect(said).toEqual([expect.stringMatching(/^(?=.*'sure').*'restless'/)]);
      // In production, nobody who reads the log can change the code.
      expect(/now\(\).*random\(\)/.test(said.join())).toBe(environment !== 'production');
      expect(said.join()).not.toMatch(/Pay|4711/);
    },
  );

  test('[W4] warns once a minute for each saga of a question that changes in each turn', async () => {
    let time = 0;
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const host = hostOf({ sagas: [restless], testing: { clock: () => time } });
    await restlessTurns(host, 3, () => (time += 59_999));
    expect(warn).toHaveBeenCalledTimes(2);
  });

  test.each<[string, string, (host: SagaHost, token: string) => unknown]>([
    ['malformed', 'The token is incomplete', (host) => host.resume('nonsense')],
    ['undecryptable', 'another `audience`', (host, token) => host.resume(alterEnd(token))],
    [
      'arguments',
      'other arguments than the call that started the saga',
      (host, token) =>
        coreOf(host).resume(token, [], {}, { entry: { target: 'asking', args: { other: 1 } } }),
    ],
    [
      'principal',
      'Another principal started the saga',
      (host, token) =>
        host.resume(token, [], { caller: { principal: { subject: 'ada', client: 'app' } } }),
    ],
  ])('[T5] explains in development only why a token %s', async (reason, why, use) => {
    const short = `mcp-saga: A token was rejected: ${reason}. Set hooks.onReject to count rejections.`;
    const hint = ' With NODE_ENV=development, the log shows the cause.';
    for (const environment of ['production', 'test', undefined, 'development']) {
      const warn = vi.spyOn(console, 'warn').mockReturnValue();
      const host = hostOf({ testing: { environment } });
      const turn = await host.start('asking', {});
      const token = turn.status === 'suspended' ? turn.token : '';
      await expect(use(host, token)).rejects.toThrow(/^Invalid or expired sagaToken$/);
      const said = String(warn.mock.calls);
      if (environment === 'development') expect(said).toContain(why);
      else expect(said).toBe(short + hint);
      expect(said).toMatch(/^[^\n]*hooks\.onReject to count rejections\./);
      warn.mockRestore();
    }
  });

  test('[T5] explains in development why a token of a host with a faster clock is refused', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const fast = hostOf({ testing: { clock: () => Date.now() + 60_000 } });
    const turn = await fast.start('asking', {});
    const token = turn.status === 'suspended' ? turn.token : '';
    const host = hostOf({ testing: { environment: 'development' } });
    await expect(host.resume(token)).rejects.toMatchObject({ code: 'clock_behind' });
    expect(String(warn.mock.calls)).toContain(
      'the clock of the host is behind the clock of the issuing host',
    );
  });

  test.each(['production', 'development'])(
    '[R5] [E10] explains to the operator, and not to the client, how to serve a removed version: %s',
    async (environment) => {
      const error = vi.spyOn(console, 'error').mockReturnValue();
      const turn = await hostOf().start('asking', {});
      const newer = hostOf({ sagas: [asking('asking', '2')], testing: { environment } });
      const gone = newer.resume(turn.status === 'suspended' ? turn.token : '');
      const refused = await gone.catch((thrown: unknown) => thrown);
      const advice = "The host does not serve version '1' of 'asking', or `until` has passed. ";
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

  test('[T5] keeps reporting rejected tokens after the clock is set back', async () => {
    let time = 1e12;
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const host = hostOf({ testing: { clock: () => time } });
    for (const wait of [0, -3_600_000, 59_999, 1]) {
      time += wait;
      await expect(host.resume('nonsense')).rejects.toMatchObject({ code: 'refused' });
    }
    expect(warn).toHaveBeenCalledTimes(3);
  });

  test('[W4] logs nothing about an answer that its client can correct', async () => {
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

test.each([
  ['charge', 'charge'],
  ['ship/charge(7)#2', 'ship/charge(*)#2'],
  ['charge(a/(b)/c)', 'charge(*)'],
  ['each/(7)/charge', 'each/(*)/charge'],
  ['~each/(7)/each#2/(8)/charge(9)', '~each/(*)/each#2/(*)/charge(*)'],
])('withoutKeys removes the keys of steps and branches from %s', (path, shown) => {
  expect(withoutKeys(path)).toBe(shown);
});
