import {
  assertDeterministic,
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  refuseEverywhere,
  testSaga,
  upgradeEverywhere,
} from '@mcp-saga/testing';
import { sagaProperty } from '@mcp-saga/testing/fast-check';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  bank,
  branchesByTime,
  chargesAtOnce,
  chargesWithoutKey,
  countsOutside,
  drawsLots,
  failsUnknown,
  floatsEffect,
  forgetsFailure,
  forgetsUndo,
  forgetsUnknown,
  holds,
  localAmount,
  keepsFailure,
  leavesUnknown,
  localDay,
  overflows,
  plugins,
  readsDate,
  refundsWithoutKey,
  renamesStep,
  trustsNote,
  trustsOrder,
  undoesItself,
} from './sagas.ts';
import { messageOf } from '../support/error-of.ts';

beforeEach(() => bank.reset());

describe('a saga that is not deterministic', () => {
  it('[R3] is told to read the time with now(), where it asks for the time of the machine', async () => {
    const message = await messageOf(
      assertDeterministic(testSaga(readsDate).on.elicit('sure', { sure: true })),
    );
    expect(message).toMatch(/another time on the clock.* 'sure' is the first that differs/);
    expect(message).toMatch(/here: {2}asked sure.*20/);
    expect(message).toContain('yield* now()');
  });

  it('[R3] is told what it did and does now, where it goes another way when it is replayed', async () => {
    const message = await messageOf(testSaga(branchesByTime).run());
    expect(message).toContain("recorded: step 'odd'");
    expect(message).toContain("now asks: step 'even'");
    expect(message).toContain('does it read the time');
  });

  it('[R3] is told to draw with random(), where it draws itself', async () => {
    const message = await messageOf(assertDeterministic(testSaga(drawsLots)));
    expect(message).toMatch(/Math.random\(\).*'draw' is the first that differs/);
    expect(message).toContain('yield* random()');
  });

  it('[R3] is told to name the time zone or the locale, where it takes those of the machine', async () => {
    const day = await messageOf(assertDeterministic(testSaga(localDay).on.elicit('sure', { sure: true })));
    expect(day).toMatch(/another time zone/);
    expect(day).toContain('UTC');
    const amount = await messageOf(
      assertDeterministic(testSaga(localAmount).on.elicit('sure', { sure: true })),
    );
    expect(amount).toMatch(/another language/);
    expect(amount).toContain('Name the locale');
  });

  it('[R3] is told of the order of what is outside, where a fresh process finds another one', async () => {
    const restart = (turn: number): void => {
      for (const name of Object.keys(plugins)) delete plugins[name];
      const names = ['mail', 'chat'];
      for (const name of turn % 2 === 0 ? names : names.toReversed()) plugins[name] = name;
    };
    const message = await messageOf(testSaga(trustsOrder, { restart }).run());
    expect(message).toContain("recorded: step 'install(chat)'");
    expect(message).toContain("now asks: step 'install(mail)'");
    expect(message).toContain('the order of an object from outside');
  });

  it('[R1] is told of variables outside of its body, where it returns another result after a crash', async () => {
    const message = await messageOf(crashEverywhere(testSaga(countsOutside)));
    // Other files of the same process run this saga as well, so that the counter begins anywhere.
    const [, crashed, undisturbed] =
      /returns "call (\d+)", and without that "call (\d+)"/.exec(message) ?? [];
    expect(Number(crashed)).toBeGreaterThan(Number(undisturbed));
    expect(message).toContain('a variable outside of its body');
  });
});

describe('a saga that does too much or too little', () => {
  it('[E3] is told to undo a step, where it fails later and nothing undoes that', async () => {
    const script = testSaga(forgetsUndo, { before: bank.reset }).on.elicit('sure', { sure: true });
    const failing = await messageOf(failEverywhere(script));
    expect(failing).toMatch(/^When 'ship' fails: 'charge' happened, the saga failed, and nothing undoes it/);
    expect(failing).toContain('compensate: ({ result, stepKey, idempotencyKey }) => …');
    expect(failing).toContain(
      [
        '    const run = await testSaga(forgetsUndo /* with your before */)',
        "      .on.elicit('sure', { sure: true })",
        "      .fail.step('ship', new Error('refused'))",
        '      .run();',
      ].join('\n'),
    );
    const refusing = await messageOf(refuseEverywhere(script));
    expect(refusing).toMatch(/^When 'sure' is declined: 'charge' happened/);
  });

  it('[E4] is told of what may have happened, where the response of a step is lost', async () => {
    const message = await messageOf(failEverywhere(testSaga(forgetsUnknown)));
    expect(message).toMatch(/^When 'charge' times out: nobody knows whether 'charge' happened/);
    expect(message).toContain('compensateUnknown: ({ stepKey, idempotencyKey }) => …');
  });

  it('[E4] is told how a step is undone that nobody knows of, where a check finds it left behind', async () => {
    const check = ({ status }: { readonly status: string }): void =>
      expect(bank.charges).toHaveLength(status === 'completed' ? 1 : 0);
    const script = testSaga(leavesUnknown, { before: bank.reset });
    const message = await messageOf(failEverywhere(script, { check }));
    expect(message).toMatch(
      /^When 'hold' has its effect, and its response is lost: expected \[ .* \] to have a length of /,
    );
    expect(message).toContain("Nobody knows whether 'hold' happened, so that its compensate was not called");
    expect(message).toContain('Give it compensateUnknown: ({ stepKey, idempotencyKey }) => …');
    const never = (): void => expect.unreachable('never');
    expect(await messageOf(failEverywhere(script, { check: never }))).not.toContain('compensateUnknown');
    const failing = await messageOf(
      failEverywhere(testSaga(failsUnknown, { before: bank.reset }), { check }),
    );
    expect(failing).toMatch(/^When 'hold' has its effect, and its response is lost/);
    expect(failing).not.toContain('Nobody knows');
  });

  it('[E1] is told to send its idempotency key, where a step is run again without it', async () => {
    const script = testSaga(chargesWithoutKey, { before: bank.reset });
    const message = await messageOf(crashEverywhere(script));
    expect(message).toMatch(/'charge' happens 2 times, and its code never looks at its idempotency key/);
    expect(message).toContain(
      "const run = await testSaga(chargesWithoutKey /* with your before */)\n      .crash.after('charge')\n      .run();",
    );
    expect(message).toContain('bank.charge(amount, step.idempotencyKey)');
    expect(await messageOf(forkEverywhere(script))).toContain('never looks at its idempotency key');
    // The double charge, as a fake of the author's own sees it.
    const check = (): void => expect(bank.charges).toHaveLength(1);
    expect(await messageOf(crashEverywhere(script, { check, harmless: ['charge'] }))).toContain(
      'to have a length of 1 but got 2',
    );
  });

  it('[E3] is told to send the key of its undo, where an undo is run again without it', async () => {
    const message = await messageOf(crashEverywhere(testSaga(refundsWithoutKey, { before: bank.reset })));
    expect(message).toMatch(
      /the undo of 'charge' happens 2 times, and its code never looks at its idempotency key/,
    );
    expect(message).toContain(".crash.after('~charge')");
    expect(message).toContain('bank.refund(result.id, idempotencyKey)');
  });

  it('[E1] is told to hand out a token first, where it charges in the first request', async () => {
    const script = testSaga(chargesAtOnce).on.elicit('sure', { sure: true });
    const message = await messageOf(crashEverywhere(script));
    expect(message).toContain("'charge' happens twice. It runs in the first request");
    expect(message).toContain('commitFirst: true');
    expect(await crashEverywhere(script, { firstRequest: 'accept' })).toEqual({ cases: 4 });
  });

  it('[R3] is told which sagas in flight it cannot go on with, where a step was renamed', async () => {
    const { old, next } = renamesStep;
    const message = await messageOf(upgradeEverywhere(testSaga(old), next));
    expect(message).toContain("Version '1' of 'renamesStep' cannot go on with sagas that version '1' began");
    expect(message).toContain('after turn 1, waiting for sure:');
    expect(message).toContain("recorded: step 'charge'\n        now asks: step 'pay'");
    expect(message).toContain("yield* patched('…')");
  });

  it('is told to yield its command, where it floats', async () => {
    const message = await messageOf(testSaga(floatsEffect).on.elicit('sure', { sure: true }).run());
    expect(message).toContain("step('ship') and never yielded it");
    expect(message).toContain("Write: yield* step('ship')");
  });

  it('[W4] is told of a slip at the edge of a schema', async () => {
    const message = await messageOf(refuseEverywhere(testSaga(overflows).on.elicit('hours', { hours: 1 })));
    expect(message).toMatch(/^When 'hours' is answered with hours: largest: its body throws a TypeError/);
    expect(message).toContain(".on.elicit('hours', { hours: 48 })");
  });

  it('[W4] is told of a slip that needs no fault, by whatever explores it', async () => {
    const script = testSaga(trustsNote).on.elicit('card', { name: 'Ann' });
    const explorers = [
      crashEverywhere,
      failEverywhere,
      refuseEverywhere,
      forkEverywhere,
      assertDeterministic,
    ];
    for (const explore of [...explorers, (each: typeof script) => upgradeEverywhere(each, trustsNote)]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const message = await messageOf(explore(script));
      expect(message).toMatch(
        /^In the undisturbed run: its body throws a TypeError: .*\(.*sagas\.ts:\d+:\d+\)/,
      );
      expect(message).toContain('ran print: "printed"');
    }
    const property = await fc.check(sagaProperty(trustsNote, { faults: [] }), { seed: 7 });
    expect(String(property.errorInstance)).toContain('its body throws a TypeError');
  });

  it('[E1] is told what a check says of the undisturbed run, with its story', async () => {
    const check = (): void => expect(bank.charges, 'charges').toHaveLength(2);
    const message = await messageOf(
      crashEverywhere(testSaga(chargesWithoutKey, { before: bank.reset }), { check }),
    );
    expect(message).toMatch(/^In the undisturbed run: charges: expected .* to have a length of 2 but got 1/);
    expect(message).toContain('What happened:\n\n    turn 1  started chargesWithoutKey');
  });

  it('[E3] is told to keep that it failed, where it undoes and completes when the request is sent again', async () => {
    const message = await messageOf(failEverywhere(testSaga(forgetsFailure, { before: bank.reset })));
    expect(message).toMatch(
      /^When 'bake' fails, but only until the process dies after the undo of 'charge': it completed, though 'charge' was undone/,
    );
    expect(message).toContain("With forks: 'refuse' the guard of the host keeps");
    expect(message).toContain("new Error('refused'), { times: 1 })\n      .crash.after('~charge')");
    expect(await failEverywhere(testSaga(keepsFailure, { before: bank.reset }))).toEqual({ cases: 12 });
    const harmless = { harmless: ['charge', 'bake'] };
    await failEverywhere(testSaga(forgetsFailure, { before: bank.reset }), harmless);
    const property = sagaProperty(forgetsFailure, { faults: ['steps', 'crashes'] });
    const found = await fc.check(property, { seed: 7, numRuns: 2_000 });
    expect(String(found.errorInstance)).toContain('it completed, though');
    const sound = sagaProperty(keepsFailure, { faults: ['steps', 'crashes'] });
    await fc.assert(sound, { seed: 7, numRuns: 300 });
  });

  it('[E3] is told which key is that of its step, where an undo undoes by its own', async () => {
    const script = testSaga(undoesItself, { before: () => holds.reset() });
    const message = await messageOf(failEverywhere(script, { harmless: ['pay'] }));
    expect(message).toMatch(
      /^When 'pay' fails: Nothing was done under 'undo:~hold': that is the key of the undo itself/,
    );
    expect(message).toContain('({ stepKey }) => provider.undo(stepKey)');
    // It undoes what may not have happened, by the right key.
    holds.reset();
    await script.timeout.step('hold').run();
    expect(holds.strays).toEqual(['do:hold']);
  });
});
