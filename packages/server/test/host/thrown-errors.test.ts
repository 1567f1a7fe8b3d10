import { inspect } from 'node:util';
import {
  createSagaHost,
  elicit,
  memoryStore,
  poll,
  saga,
  SagaCancelled,
  step,
  StepError,
  type Program,
  type SagaTurn,
  type StepAnswer,
  type TurnFacts,
} from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { thrownIn } from '../../src/turn/thrown-errors.ts';
import { accept, failed, hostOf, oldKey, suspended } from '../fixtures/host.ts';
import { ask, eras } from '../fixtures/raw.ts';
import { Empty } from '../fixtures/sagas.ts';
import { coreOf } from '../../src/saga-host.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

expectLogs(restartLog);

const options = { name: 'order', version: '1' } as const;
const mark = 'kq918273';

/** What an author's own code throws: its class, and its place, are what he looks for. */
class NoSuchCard extends Error {
  readonly #secret = mark;
  get secret(): string {
    return this.#secret;
  }
}

function chargeCard(): never {
  throw new NoSuchCard(`no card ${mark}`);
}

const decline: StepAnswer = { stepId: 'sure', result: { action: 'decline' } };

/** Starts a saga, answers its question, and tells what the hook and the turn have of its end. */
async function ended(
  program: Program,
  answer: StepAnswer = accept('sure', {}),
): Promise<{ readonly turn: SagaTurn; readonly facts: TurnFacts }> {
  const turns: TurnFacts[] = [];
  const { host } = hostOf(program, {
    store: memoryStore({ clock: () => 1_000 }),
    hooks: { onTurn: (turn) => turns.push(turn) },
    testing: { sleep: async () => undefined },
  });
  const { token } = suspended(await host.start(program.name, {}));
  const turn = await host.resume(token, [answer]);
  return { turn, facts: turns.at(-1) as TurnFacts };
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the error of a step', () => {
  const bare = saga(options, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* step('charge', chargeCard);
    return '';
  });
  const undone = saga(options, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* step('hold', () => 1, { compensate: () => undefined });
    yield* step('charge', chargeCard, { key: 'a' });
    return '';
  });
  const caught = saga(options, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    try {
      yield* step('charge', chargeCard);
    } catch (error) {
      throw new Error('no luck', { cause: error });
    }
    return '';
  });
  const polled = saga(options, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* poll('charge', chargeCard, { every: 1, timeout: 10 });
    return '';
  });
  const fallback = saga(options, function* () {
    yield* elicit.outcome('charge', { message: 'Card?', schema: Empty, fallback: chargeCard });
    return '';
  });

  test.each<[string, Program]>([
    ['without an undo', bare],
    ['followed by an undo in the next turn', undone],
    ['behind another error of the body', caught],
    ['of a poll', polled],
  ])(
    '%s has the thrown error as its cause, with the stack of the throwing code',
    async (_, program) => {
      const { facts } = await ended(program);
      const error = facts.error instanceof StepError ? facts.error : (facts.error as Error).cause;
      expect(error).toBeInstanceOf(StepError);
      const { cause } = error as StepError;
      expect(cause).toBeInstanceOf(NoSuchCard);
      expect((cause as Error).stack).toContain('chargeCard');
      // A logger that writes errors as JSON, or copies them, does not write it by accident.
      expect(Object.keys(error as object)).not.toContain('cause');
    },
  );

  test('of a fallback has the thrown error as its cause', async () => {
    const { host } = hostOf(fallback, { store: memoryStore({ clock: () => 1_000 }) });
    const { error } = failed(await host.start('order', {}, { caller: { capabilities: {} } }));
    expect((error as Error).cause).toBeInstanceOf(NoSuchCard);
  });

  test('[R2] has no cause in the body, neither in the first run nor on replay', async () => {
    const seen: unknown[] = [];
    const looks = saga({ ...options, reuse: 'ok' }, function* () {
      try {
        yield* step('charge', chargeCard);
      } catch (error) {
        seen.push([error, (error as Error).cause, 'cause' in (error as Error)]);
      }
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      return 'done';
    });
    const { turn } = await ended(looks);
    expect(turn.status).toBe('completed');
    expect(seen).toEqual([
      [expect.any(StepError), undefined, false],
      [expect.any(StepError), undefined, false],
    ]);
  });

  test('[R2] has a copy of its cause in the body, and the original for the operator', async () => {
    const seen: unknown[] = [];
    const reset = Object.assign(new Error('connection reset'), { code: 'ECONNRESET' });
    const fetches = saga({ ...options, reuse: 'ok' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      try {
        yield* step('charge', () => {
          throw Object.assign(new TypeError('fetch failed', { cause: reset }), { status: 502 });
        });
      } catch (error) {
        const { status, cause } = error as StepError;
        seen.push(status, (cause as typeof reset).code, cause === reset);
        throw error;
      }
      return 'done';
    });
    const { facts } = await ended(fetches);
    expect(seen).toEqual([502, 'ECONNRESET', false]);
    const { cause: original } = facts.error as StepError;
    expect(original).toBeInstanceOf(TypeError);
    expect((original as Error).cause).toBe(reset);
  });

  test('has no cause if it was thrown in another request, also of the same caller', async () => {
    const keeps = saga(options, function* () {
      let thrown: unknown;
      try {
        yield* step('charge', chargeCard);
      } catch (error) {
        thrown = error;
      }
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      throw thrown as Error;
    });
    const { host } = hostOf([keeps, { ...bare, name: 'bare' }], {
      store: memoryStore({ clock: () => 1_000 }),
    });
    const { token } = suspended(await host.start('order', {}));
    const other = suspended(await host.start('bare', {}));
    const caller = {};
    const { error: own } = failed(await host.resume(other.token, [accept('sure', {})], { caller }));
    expect(own).toHaveProperty('cause');
    const { error } = failed(await host.resume(token, [accept('sure', {})], { caller }));
    expect(error).toBeInstanceOf(StepError);
    expect(error).not.toHaveProperty('cause');
  });

  test('keeps the last hundred errors that a request has thrown', () => {
    const thrown = thrownIn('id', {});
    for (let count = 0; count <= 100; count += 1) thrown.note(`~${count}`, count);
    expect([0, 1, 100].map((stepId) => thrown.ofUndo(String(stepId)))).toEqual([undefined, 1, 100]);
  });

  test('may have a cause getter that throws', () => {
    const odd = Object.defineProperty(new Error('odd'), 'cause', {
      get: () => {
        throw new Error('never');
      },
    });
    expect(() => thrownIn('id', {}).reveal(odd)).not.toThrow();
  });

  test('[T13] is stored by a guard without its cause', async () => {
    const kept: string[] = [];
    const store = storeWithGuard(
      (guard) => ({
        finish: (fence, response) => {
          kept.push(response);
          return guard.finish(fence, response);
        },
      }),
      memoryStore({ clock: () => 1_000 }),
    );
    const { host } = hostOf(undone, { store });
    const { token } = suspended(await host.start('order', {}));
    const turn = failed(await host.resume(token, [accept('sure', {})]));
    expect(inspect(turn, { depth: 9, showHidden: true })).toContain(mark);
    const again = failed(await host.resume(token, [accept('sure', {})]));
    expect(inspect(again, { depth: 9, showHidden: true })).not.toContain(mark);
    // The response that ended it, as the guard has it.
    const expected = { purpose: 'response', ignoreExpiry: true } as const;
    const { streams } = await coreOf(host).keys.responses.open(kept.at(-1) ?? '', expected);
    const [last] = streams;
    expect(new TextDecoder().decode(last)).toContain('failed');
    expect(new TextDecoder().decode(last)).not.toContain(mark);
  });
});

describe('a step that could not be undone', () => {
  const undoes = (undo: unknown) =>
    saga(options, function* () {
      yield* step('charge', () => 1, { compensate: undo as () => undefined, key: `7\n${mark}` });
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      return '';
    });
  const unknown = saga(options, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* step(
      'charge',
      () => {
        throw Object.assign(new Error(mark), { code: 'outcome_unknown' });
      },
      { compensate: () => undefined },
    );
    return '';
  });
  const ways: [string, Program][] = [
    ['a function', undoes(chargeCard)],
    [
      'a generator',
      undoes(function* () {
        yield* step('look', () => 1);
        chargeCard();
      }),
    ],
    [
      'a generator with a step that fails',
      undoes(function* () {
        yield* step('look', chargeCard);
      }),
    ],
  ];

  test.each(ways)(
    'is reported to onTurn with the thrown error if its undo is %s',
    async (_, program) => {
      const { facts, turn } = await ended(program, decline);
      expect(facts.uncompensated).toHaveLength(1);
      const { error } = (facts.uncompensated ?? [])[0] as { readonly error: Error };
      expect(error instanceof NoSuchCard || error.cause instanceof NoSuchCard).toBe(true);
      // The client gets the turn, and the guard stores it.
      expect(JSON.stringify(failed(turn).uncompensated)).not.toMatch(/error|no card/);
      expect(inspect(failed(turn).uncompensated, { depth: 9, showHidden: true })).not.toContain(
        'no card',
      );
    },
  );

  test('is reported without an error if no undo exists', async () => {
    const { facts } = await ended(unknown);
    expect(facts.uncompensated).toEqual([{ stepId: 'charge' }]);
    expect(facts).not.toHaveProperty('uncompensated.0.error');
  });

  test('is not reported if all steps were undone', async () => {
    const { facts } = await ended(
      undoes(() => undefined),
      decline,
    );
    expect(facts).not.toHaveProperty('uncompensated');
  });

  const logged = async (program: Program, environment: string, answer: StepAnswer = decline) => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    const host = createSagaHost({
      sagas: [program],
      keys: oldKey,
      name: 'a',
      testing: { environment, clock: () => 1_000, sleep: async () => undefined },
      store: memoryStore({ clock: () => 1_000 }),
    });
    const { token } = suspended(await host.start('order', {}));
    await host.resume(token, [answer]);
    await host.resume(token, [answer]);
    return error.mock.calls;
  };

  test.each(ways)('is logged once, also after a decline: %s', async (_, program) => {
    const said = await logged(program, 'production');
    expect(said).toEqual([
      [
        expect.stringMatching(
          /^mcp-saga: 'order' could not undo '[\w(*)]+' \(saga ID [\w-]{22}\)\. (NoSuchCard|StepError \(step_failed\) at step '~charge\(\*\)\/look')\. hooks\.onTurn gets the error\./,
        ),
      ],
    ]);
    expect(String(said)).not.toContain(mark);
  });

  test.each(ways)('is logged with its error in development: %s', async (_, program) => {
    const [first, ...more] = await logged(program, 'development');
    expect(more).toEqual([]);
    expect(first?.[0]).toMatch(
      /^mcp-saga: 'order' could not undo '[\w(*)]+' \(saga ID [\w-]{22}\):$/,
    );
    expect(inspect(first?.[1])).toMatch(/NoSuchCard|no card/);
    expect(inspect(first?.[1])).toContain('chargeCard');
  });

  test('is logged beside the error of the saga if no undo exists', async () => {
    expect(await logged(unknown, 'production', accept('sure', {}))).toEqual([
      [
        expect.stringMatching(
          /^mcp-saga: 'order' could not undo 'charge' \(saga ID [\w-]{22}\): no compensation is known\./,
        ),
      ],
      [
        expect.stringMatching(
          /'order' failed in turn 2 \(saga ID [\w-]{22}\)\. StepError \(outcome_unknown\) at step 'charge'\./,
        ),
      ],
    ]);
  });

  test('is logged if the saga was cancelled', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    const host = createSagaHost({
      sagas: [undoes(chargeCard)],
      keys: oldKey,
      name: 'a',
      testing: { environment: 'production', clock: () => 1_000, sleep: async () => undefined },
      store: memoryStore({ clock: () => 1_000 }),
    });
    const { token } = suspended(await host.start('order', {}));
    expect(failed(await host.cancel(token)).error).toBeInstanceOf(SagaCancelled);
    expect(error.mock.calls).toEqual([
      [expect.stringContaining("'order' could not undo 'charge(*)'")],
    ]);
  });
});

test.each(eras)(
  '[T5] no thrown error is on the wire of the %s era, in development either',
  async (era) => {
    vi.spyOn(console, 'error').mockReturnValue();
    const program = saga({ ...options, reuse: 'ok' }, function* () {
      yield* step('hold', () => 1, { compensate: chargeCard, undo: { retry: 1 } });
      yield* step('charge', chargeCard);
      return '';
    });
    for (const environment of ['development', 'production']) {
      const server = serveSagas({
        name: 'a',
        version: '1',
        sagas: [program],
        keys: oldKey,
        starts: { unkeyed: 'run' },
        testing: { environment },
      });
      const { text } = await ask(server, era, 'tools/callSaga', { name: 'order', arguments: {} });
      expect(text).toContain(
        "'order' failed at step 'charge'. Not undone, and left as it is: 'hold'.",
      );
      expect(text).not.toMatch(new RegExp(`${mark}|no card|chargeCard|NoSuchCard|cause|stack`));
    }
  },
);

test('the log shows the stack of the failing step in development only, and no message elsewhere', async () => {
  const program = saga({ name: 'order', version: '1' }, function* () {
    yield* step('charge', chargeCard);
    return '';
  });
  for (const environment of ['development', 'test', 'production', undefined]) {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    const host = createSagaHost({
      sagas: [program],
      keys: oldKey,
      name: 'a',
      testing: { environment },
    });
    await host.start('order', {});
    const shown = error.mock.calls
      .flat()
      .map((part) => (typeof part === 'string' ? part : inspect(part)))
      .join(' ');
    if (environment === 'development') expect(shown).toMatch(/\[cause\]: NoSuchCard.*: no card/);
    expect(shown.includes('chargeCard')).toBe(environment === 'development');
    expect(shown.includes(mark)).toBe(environment === 'development');
    error.mockRestore();
  }
});
