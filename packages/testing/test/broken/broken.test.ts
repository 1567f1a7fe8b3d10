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
import { errorOf, messageOf } from '../support/error-of.ts';

const explorers = [
  crashEverywhere,
  failEverywhere,
  refuseEverywhere,
  forkEverywhere,
  assertDeterministic,
];

beforeEach(() => bank.reset());

describe('a saga that is not deterministic', () => {
  it('[R3] gets advice to use now() if it reads the clock of the machine', async () => {
    const message = await messageOf(
      assertDeterministic(testSaga(readsDate).on.elicit('sure', { sure: true })),
    );
    expect(message).toMatch(/another time of the machine.* First difference: 'sure'/);
    expect(message).toMatch(/here: {2}asked sure.*20/);
    expect(message).toContain('yield* now()');
  });

  it('[R3] gets both sides if its replay takes another branch', async () => {
    const message = await messageOf(testSaga(branchesByTime).run());
    expect(message).toContain("recorded: step 'odd'");
    expect(message).toContain("now asks: step 'even'");
    expect(message).toContain('the time (use yield* now())');
  });

  it('[R3] gets advice to use random() if it calls Math.random()', async () => {
    const message = await messageOf(assertDeterministic(testSaga(drawsLots)));
    expect(message).toMatch(/Math.random\(\).* First difference: 'draw'/);
    expect(message).toContain('yield* random()');
  });

  it('[R3] gets advice to name the time zone or locale if it uses those of the machine', async () => {
    const day = await messageOf(
      assertDeterministic(testSaga(localDay).on.elicit('sure', { sure: true })),
    );
    expect(day).toMatch(/another time zone/);
    expect(day).toContain('UTC');
    const amount = await messageOf(
      assertDeterministic(testSaga(localAmount).on.elicit('sure', { sure: true })),
    );
    expect(amount).toMatch(/another language/);
    expect(amount).toContain('Name the locale');
  });

  it('[R3] gets advice on the order of outside objects if a new process has another order', async () => {
    const restart = (turn: number): void => {
      for (const name of Object.keys(plugins)) delete plugins[name];
      const names = ['mail', 'chat'];
      for (const name of turn % 2 === 0 ? names : names.toReversed()) plugins[name] = name;
    };
    const message = await messageOf(testSaga(trustsOrder, { restart }).run());
    expect(message).toContain("recorded: step 'install(chat)'");
    expect(message).toContain("now asks: step 'install(mail)'");
    expect(message).toContain('the order of outside objects');
  });

  it('[R1] gets advice on outside variables if it returns another result after a crash', async () => {
    const message = await messageOf(crashEverywhere(testSaga(countsOutside)));
    // Other files of the same process run this saga as well, so that the counter begins anywhere.
    const [, crashed, undisturbed] =
      /returns "call (\d+)"; undisturbed, "call (\d+)"/.exec(message) ?? [];
    expect(Number(crashed)).toBeGreaterThan(Number(undisturbed));
    expect(message).toContain('a variable outside of its body');
  });
});

describe('a saga that does too much or too little', () => {
  it('[E3] gets advice to add compensate if it fails after a step that nothing undoes', async () => {
    const script = testSaga(forgetsUndo, { before: bank.reset }).on.elicit('sure', { sure: true });
    const failing = await messageOf(failEverywhere(script));
    expect(failing).toMatch(
      /^When 'ship' fails: 'charge' happened, the saga failed, and nothing undoes 'charge'/,
    );
    expect(failing).toContain('compensate: ({ result, stepKey, idempotencyKey }) => …');
    expect(failing).toContain(
      [
        "    const run = await testSaga(yourSaga /* 'forgetsUndo' */ /* with your before */)",
        "      .on.elicit('sure', { sure: true })",
        "      .fail.step('ship', new Error('refused'))",
        '      .run();',
      ].join('\n'),
    );
    const refusing = await messageOf(refuseEverywhere(script));
    expect(refusing).toMatch(/^When 'sure' is declined: 'charge' happened/);
  });

  it('[E4] gets the step of unknown outcome if the response of a step is dropped', async () => {
    const message = await messageOf(failEverywhere(testSaga(forgetsUnknown)));
    expect(message).toMatch(/^When 'charge' times out: the outcome of 'charge' is unknown/);
    expect(message).toContain("unknown: 'compensate'");
  });

  it('[E4] gets advice on unknown outcomes if a check finds an effect of unknown outcome', async () => {
    const check = ({ status }: { readonly status: string }): void =>
      expect(bank.charges).toHaveLength(status === 'completed' ? 1 : 0);
    const script = testSaga(leavesUnknown, { before: bank.reset });
    const message = await messageOf(failEverywhere(script, { check }));
    expect(message).toMatch(
      /^When 'hold' has its effect, and its response is lost: expected \[ .* \] to have a length of /,
    );
    expect(message).toContain(
      "The outcome of 'hold' is unknown: the saga did not call its `compensate`",
    );
    expect(message).toContain("`unknown: 'compensate'`");
    const never = (): void => expect.unreachable('never');
    expect(await messageOf(failEverywhere(script, { check: never }))).not.toContain(
      "unknown: 'compensate'",
    );
    const failing = await messageOf(
      failEverywhere(testSaga(failsUnknown, { before: bank.reset }), { check }),
    );
    expect(failing).toMatch(/^When 'hold' has its effect, and its response is lost/);
    expect(failing).not.toContain('outcome of');
  });

  it('[E1] gets advice to send the idempotency key if a repeated step does not read the key', async () => {
    const script = testSaga(chargesWithoutKey, { before: bank.reset });
    const message = await messageOf(crashEverywhere(script));
    expect(message).toMatch(
      /'charge' happens 2 times, and its code never reads its idempotency key/,
    );
    expect(message).toContain(
      "const run = await testSaga(yourSaga /* 'chargesWithoutKey' */ /* with your before */)\n      .crash.after('charge')\n      .run();",
    );
    expect(message).toContain('bank.charge(amount, step.idempotencyKey)');
    expect((await errorOf(forkEverywhere(script))).code).toBe('violated');
    // The double charge, as a fake of the author's own sees it.
    const check = (): void => expect(bank.charges).toHaveLength(1);
    expect(await messageOf(crashEverywhere(script, { check, harmless: ['charge'] }))).toContain(
      'to have a length of 1 but got 2',
    );
  });

  it('[E3] gets advice to send the key of the undo if a repeated undo does not read the key', async () => {
    const script = testSaga(refundsWithoutKey, { before: bank.reset });
    const message = await messageOf(crashEverywhere(script.expectFailure('not sure')));
    expect(message).toMatch(
      /the undo of 'charge' happens 2 times, and its code never reads its idempotency key/,
    );
    expect(message).toContain(".crash.after('~charge')");
    expect(message).toContain('bank.refund(result.id, idempotencyKey)');
  });

  it('[E1] gets advice to commit first if it charges in the first request', async () => {
    const script = testSaga(chargesAtOnce).on.elicit('sure', { sure: true });
    const message = await messageOf(crashEverywhere(script));
    expect(message).toContain("'charge' happens twice. The step runs in the first request");
    expect(message).toContain('once: true');
    expect(await crashEverywhere(script, { firstRequest: 'accept' })).toEqual({ cases: 4 });
  });

  it('[R3] gets the sagas in flight that cannot continue if a step was renamed', async () => {
    const { old, next } = renamesStep;
    const message = await messageOf(upgradeEverywhere(testSaga(old), next));
    expect(message).toContain("Version '1' of 'renamesStep' cannot continue sagas of version '1'");
    expect(message).toContain('after turn 1, waiting for sure:');
    expect(message).toContain("recorded: step 'charge'\n        now asks: step 'pay'");
    expect(message).toContain("yield* patched('…')");
  });

  it('gets advice to yield a command that was never yielded', async () => {
    const message = await messageOf(testSaga(floatsEffect).on.elicit('sure', { sure: true }).run());
    expect(message).toContain("step('ship'), but never yielded it");
    expect(message).toContain("Write: yield* step('ship')");
  });

  it('gets that advice from every run and explorer of one process', async () => {
    const script = testSaga(floatsEffect).on.elicit('sure', { sure: true });
    for (const explore of [() => script.run(), () => script.run(), ...explorers])
      expect(await messageOf(explore(script))).toContain("step('ship'), but never yielded it");
  });

  it('[W4] gets a programming error at the edge of a schema', async () => {
    const message = await messageOf(
      refuseEverywhere(testSaga(overflows).on.elicit('hours', { hours: 1 })),
    );
    expect(message).toMatch(
      /^When 'hours' is answered with hours: largest: its body throws a TypeError/,
    );
    expect(message).toContain(".on.elicit('hours#1', { hours: 48 })");
  });

  it('[W4] gets a programming error of the undisturbed run from every explorer', async () => {
    const script = testSaga(trustsNote).on.elicit('card', { name: 'Ann' });
    for (const explore of [
      ...explorers,
      (each: typeof script) => upgradeEverywhere(each, trustsNote),
    ]) {
      const message = await messageOf(explore(script));
      expect(message).toMatch(
        /^In the undisturbed run: its body throws a TypeError: .*\(.*sagas\.ts:\d+:\d+\)/,
      );
      expect(message).toContain('ran print: "printed"');
    }
    const property = await fc.check(sagaProperty(trustsNote, { faults: [] }), { seed: 7 });
    expect(String(property.errorInstance)).toContain('its body throws a TypeError');
  });

  it('[E1] gets the error of a check in the undisturbed run, with the trace', async () => {
    const check = (): void => expect(bank.charges, 'charges').toHaveLength(2);
    const message = await messageOf(
      crashEverywhere(testSaga(chargesWithoutKey, { before: bank.reset }), { check }),
    );
    expect(message).toMatch(
      /^In the undisturbed run: charges: expected .* to have a length of 2 but got 1/,
    );
    expect(message).toContain('What happened:\n\n    turn 1  started chargesWithoutKey');
  });

  it('[E3] gets advice to keep its failure if the repeated request completes after an undo', async () => {
    const message = await messageOf(
      failEverywhere(testSaga(forgetsFailure, { before: bank.reset })),
    );
    expect(message).toMatch(
      /^When 'bake' fails, but only until the process dies after the undo of 'charge': it completed without the effect of 'charge'/,
    );
    expect(message).toContain('the store keeps the failure before any undo');
    expect(message).toContain("new Error('refused'), { times: 1 })\n      .crash.after('~charge')");
    expect(await failEverywhere(testSaga(keepsFailure, { before: bank.reset }))).toEqual({
      cases: 12,
    });
    const harmless = { harmless: ['charge', 'bake'] };
    await failEverywhere(testSaga(forgetsFailure, { before: bank.reset }), harmless);
    const property = sagaProperty(forgetsFailure, { faults: ['steps', 'crashes'] });
    const found = await fc.check(property, { seed: 7, numRuns: 2_000 });
    expect(String(found.errorInstance)).toContain('it completed without the effect');
    const sound = sagaProperty(keepsFailure, { faults: ['steps', 'crashes'] });
    await fc.assert(sound, { seed: 7, numRuns: 300 });
  });

  it('[E3] gets advice to use stepKey if an undo uses its own key', async () => {
    const script = testSaga(undoesItself, { before: () => holds.reset() });
    const message = await messageOf(failEverywhere(script, { harmless: ['pay'] }));
    expect(message).toMatch(
      /^When 'pay' fails: Provider\.undo\('undo:~hold'\): this is the key of the undo/,
    );
    expect(message).toContain('({ stepKey }) => provider.undo(stepKey)');
    // It undoes what may not have happened, by the right key.
    holds.reset();
    await script.timeout.step('hold').run();
    expect(holds.strays).toEqual(['do:hold']);
  });
});
