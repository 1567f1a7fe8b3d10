import { approval, elicit, saga, step, waitFor } from '@mcp-saga/server';
import {
  assertDeterministic,
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  testSaga,
  type SagaRun,
  type TestSaga,
  upgradeEverywhere,
} from '@mcp-saga/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { explore, explored, judging, type Case } from '../src/explore/exploration.ts';
import { bank, readsDate, renamesStep } from './broken/sagas.ts';
import { messageOf } from './support/error-of.ts';

const Go = z.object({ go: z.boolean() });
const Paid = z.object({ status: z.string() });

beforeEach(() => bank.reset());

/** Asks, and ships without an undo before a step that may fail. */
const ships = saga({ name: 'ships', version: '1', reuse: 'ok' }, function* () {
  const { go } = yield* elicit('go', { message: 'On?', schema: Go });
  if (go) yield* step('ship', ({ idempotencyKey }) => idempotencyKey);
  yield* step('thank', ({ idempotencyKey }) => idempotencyKey);
  return 'done';
});

describe('the smallest case', () => {
  it('has no lines that the failure does not need', async () => {
    const script = testSaga(ships)
      .on.elicit('gone', { go: true })
      .on.elicit('go', { go: true })
      .on.step('thank', 'thanked')
      .on.step('nothing', 1);
    expect(await messageOf(failEverywhere(script))).toContain(
      [
        "    const run = await testSaga(yourSaga /* 'ships' */)",
        "      .on.elicit('go', { go: true })",
        "      .fail.step('thank', new Error('refused'))",
        '      .run();',
        "    expect([...run.compensated, ...run.uncompensated]).toContain('ship');",
      ].join('\n'),
    );
  });

  it('has no faults that never apply', async () => {
    const script = testSaga(ships).on.elicit('go', { go: true }).timeout.step('never') as TestSaga;
    const each: Case = { when: 'When it is run', script, fault: [] };
    const baseline = await explored(script);
    const judge = () => ({ what: 'it ends.', expects: '' });
    const found = judging({ test: script, baseline, check: undefined, judge });
    const message = await messageOf(
      explore([each], (one, smaller) => (smaller ? Promise.resolve(undefined) : found(one))),
    );
    expect(message).toContain(".on.elicit('go', { go: true })\n      .run();");
    expect(message).not.toContain('never');
  });

  it('has the lines that the script lacks', async () => {
    const message = await messageOf(failEverywhere(testSaga(ships)));
    expect(message).toMatch(
      /await testSaga\(yourSaga [^)]*\)\n +\.on\.elicit\('go', \{ go: \w+ \}\)/,
    );
  });

  it('[E7] is the smallest of all failing forks, and not the first one', async () => {
    const script = testSaga(ships).on.elicit('go', { go: false }).on.step('ship', 'shipped');
    const check = (fork: { readonly status: string }): void => {
      if (fork.status === 'completed') throw new Error('it goes on');
    };
    const message = await messageOf(forkEverywhere(script, { check }));
    expect(message).toContain('it goes on');
    expect(message).toMatch(/\d of \d cases fail/);
    expect(message).toContain(
      [
        "    const run = await testSaga(yourSaga /* 'ships' */)",
        "      .on.elicit('go', { go: false })",
        '      .run();',
      ].join('\n'),
    );
    expect(message).toMatch(/await run\.\S+\.fork\(.*\);/);
    expect(message).not.toContain("on.step('ship'");
  });

  it('[E7] has the approval that only a fork asks for', async () => {
    const reviews = saga({ name: 'reviews', version: '1', reuse: 'ok' }, function* () {
      const { go } = yield* elicit('go', { message: 'On?', schema: Go });
      const link = 'accept';
      yield* waitFor('paid', { schema: Paid, register: () => 'told', link, timeout: 60_000 });
      if (!go)
        yield* approval('boss', {
          message: 'Sure?',
          deliver: () => 'sent',
          link,
          timeout: 60_000,
        });
      return go ? 'done' : 'stopped';
    });
    const script = testSaga(reviews).on.event('paid', { status: 'paid' });
    const check = (fork: SagaRun): void => {
      if (fork.status === 'completed' && fork.result === 'stopped') throw new Error('it stops');
    };
    const message = await messageOf(forkEverywhere(script, { check, harmless: ['*'] }));
    expect(message).toContain(
      [
        "      .on.event('paid', { status: 'paid' })",
        "      .on.elicit('go', { go: true })",
        "      .on.approval('boss', true)",
        '      .run();',
        "    const fork = await run.at('go').fork({ go: false });",
      ].join('\n'),
    );
  });

  it('[R3] is a script for both versions of an upgrade', async () => {
    const { old, next } = renamesStep;
    const script = testSaga(old).on.step('nothing', 1);
    const message = await messageOf(upgradeEverywhere(script, next));
    expect(message).toMatch(
      /const script = testSaga\(yourSaga \/\* .renamesStep. \*\/\)[^]*;\n +await upgradeEverywhere\(script, next\);/,
    );
    expect(message).not.toContain('.timeout');
  });

  it('[R3] contains the check that fails after an upgrade', async () => {
    const check = (): void => {
      throw new Error('it is another one');
    };
    const message = await messageOf(upgradeEverywhere(testSaga(ships), ships, { check }));
    expect(message).toMatch(/^When version '1' continues after turn 1: it is another one/);
    expect(message).toContain('await upgradeEverywhere(script, next);');
  });

  it('[R3] is a script for a saga that depends on its machine', async () => {
    const script = testSaga(readsDate)
      .on.elicit('other', { go: true })
      .on.elicit('sure', { sure: true });
    expect(await messageOf(assertDeterministic(script))).toContain(
      [
        '    await assertDeterministic(',
        "      testSaga(yourSaga /* 'readsDate' */)",
        "        .on.elicit('sure', { sure: true }),",
        '    );',
      ].join('\n'),
    );
  });

  it('[E1] contains several crashes if one crash causes no failure', async () => {
    let died = 0;
    const script = testSaga(ships, {
      before: () => void (died = 0),
      restart: () => void (died += 1),
    });
    const check = (): void => {
      if (died > 4) throw new Error('too many');
    };
    const message = await messageOf(crashEverywhere(script, { check }));
    expect(message).toMatch(/^When the process dies at one place after the other: too many/);
    // Two requests are needed, and one more for each crash.
    expect(message.match(/\.(?:crash|lose)\./g)).toHaveLength(3);
  });
});

describe('an undo that fails after a failing step', () => {
  const pays = (refund: (key: string) => void) =>
    saga({ name: 'pays', version: '1' }, function* () {
      yield* step('charge', ({ idempotencyKey }) => bank.charge(900, idempotencyKey), {
        compensate: (undo) => refund(undo.idempotencyKey),
      });
      yield* step('ship', () => 'shipped');
      return 'paid';
    });

  it('[E3] repeats an undo by its key, and reports an undo that always fails', async () => {
    const keys = new Set<string>();
    const script = testSaga(
      pays((key) => void keys.add(key)),
      { before: () => keys.clear() },
    );
    const check = ({ compensated }: { readonly compensated: readonly string[] }): void =>
      expect(keys.size).toBe(compensated.includes('charge') ? 1 : 0);
    // Three faults of each step, and two faults of the undo.
    expect(await failEverywhere(script, { check, harmless: ['ship'] })).toEqual({ cases: 8 });
  });

  it('[E3] gets advice to send the key of an undo', async () => {
    const refunds = saga({ name: 'refunds', version: '1' }, function* () {
      yield* step('charge', ({ idempotencyKey }) => bank.charge(900, idempotencyKey), {
        compensate: ({ result }) => void bank.charges.push(`refund ${result.id}`),
      });
      yield* step('ship', () => 'shipped');
      return 'paid';
    });
    const message = await messageOf(failEverywhere(testSaga(refunds), { harmless: ['ship'] }));
    expect(message).toMatch(
      /^When 'ship' fails, and the undo of 'charge' loses its response once: /,
    );
    expect(message).toContain('idempotencyKey');
    expect(message).toContain("\n      .lose.step('~charge', { times: 1 })\n");
  });
});
