import { elicit, saga, type Program } from '@mcp-saga/server';
import {
  assertDeterministic,
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  recordSagas,
  refuseEverywhere,
  testHost,
  testSaga,
  upgradeEverywhere,
} from '@mcp-saga/testing';
import { sagaProperty } from '@mcp-saga/testing/fast-check';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorOf } from './support/error-of.ts';

const agree = saga({ name: 'agree', version: '1' }, function* () {
  const { yes } = yield* elicit('ok', {
    message: 'Agree?',
    schema: z.object({ yes: z.boolean() }),
  });
  return yes ? 'agreed' : 'refused';
});
const script = testSaga(agree).on.elicit('ok', { yes: true });

/** What plain JavaScript may call. */
type Untyped = (...given: unknown[]) => Promise<unknown>;
const explorers = Object.entries({
  assertDeterministic,
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  refuseEverywhere,
  upgradeEverywhere: ((given, options) =>
    upgradeEverywhere(given as never, agree, options as never)) as Untyped,
}) as [string, Untyped][];

describe('arguments of the test kit', () => {
  it.each(explorers)('%s refuses a value that is not a script', async (name, explore) => {
    const run = await script.run();
    for (const given of [agree, run, () => script.run(), undefined, {}]) {
      const error = await errorOf(Promise.resolve().then(() => explore(given)));
      expect(error.code).toBe('script');
      expect(error.message).toContain(`${name}(testSaga(saga)…)`);
    }
    expect((await errorOf(explore(run))).message).toContain('got a run');
  });

  it.each(explorers.slice(1))(
    '%s refuses an unknown option, and names the nearest',
    async (_, explore) => {
      const error = await errorOf(explore(script, { chekc: () => undefined }));
      expect(error.code).toBe('script');
      expect(error.message).toMatch(/has no option 'chekc'\. Did you mean 'check'\?/);
    },
  );

  it('upgradeEverywhere rejects a value that is not a saga', async () => {
    const error = await errorOf(upgradeEverywhere(script, script as never));
    expect(error.code).toBe('script');
  });

  it('testSaga rejects unknown options and values that are not sagas', () => {
    expect(() => testSaga<Program>({} as never)).toThrow(/expected a saga/);
    expect(() => testSaga(agree, { inputs: {} } as never)).toThrow(
      /has no option 'inputs'\. Did you mean 'input'\?/,
    );
    expect(() => testSaga(agree, 900 as never)).toThrow(/must be an object of input, clock/);
  });

  it('rules reject unknown options and invalid times', () => {
    expect(() => script.fail.step('a', new Error('no'), { time: 1 } as never)).toThrow(
      "Did you mean 'times'?",
    );
    expect(() => script.lose.step('a', { count: 1 } as never)).toThrow("has no option 'count'");
    expect(() => script.crash.after('a', { times: 1 } as never)).toThrow("has no option 'times'");
    for (const ms of [0, -1, Number.NaN, Infinity, '1 h'] as number[]) {
      expect(() => script.late.elicit('ok', ms)).toThrow(
        /^late.elicit: .*positive number of milliseconds/,
      );
      expect(() => script.silent.elicit('ok', ms)).toThrow(/^silent.elicit: /);
    }
  });

  it('sagaProperty rejects a script, unknown options, and an invariant that is not a function', () => {
    expect(() => sagaProperty(script as never, {})).toThrow('Got a script: pass its saga.');
    expect(() => sagaProperty(agree, { harmles: [] } as never)).toThrow("Did you mean 'harmless'?");
    expect(() => sagaProperty(agree, {}, true as never)).toThrow(/must be a function/);
  });

  it('a property that is not awaited is an error, because it never ran', async () => {
    const error = await errorOf(Promise.resolve(sagaProperty(agree)));
    expect(error).toMatchObject({ code: 'script' });
    expect(error.message).toContain('await fc.assert(sagaProperty(…))');
    await fc.assert(sagaProperty(agree), { numRuns: 3 });
  });
});

describe('an unknown option', () => {
  it('of `recordSagas` is refused, with the nearest known name', () => {
    const options = { onTurns: () => undefined, redact: (value: unknown) => value };
    expect(() => recordSagas([agree], options as never)).toThrow(
      /onTurns.*Did you mean 'onTurn'\?/,
    );
  });

  it('of `testHost().client` is refused, with the nearest known name', () => {
    const host = testHost({ sagas: [agree] });
    expect(() => host.client({ answer: {} } as never)).toThrow(/answer.*Did you mean 'answers'\?/);
  });
});
