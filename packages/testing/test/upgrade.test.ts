import { replayRecording, testSaga, upgradeEverywhere, type SagaRun } from '@mcp-saga/testing';
import { linesOf } from '@mcp-saga/testing/internal';
import {
  checkpoint,
  elicit,
  sample,
  saga,
  sleep,
  step,
  type PreviousProgram,
  type Program,
} from '@mcp-saga/server';
import { elicit as elicitInMachine, machineSaga } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { z } from 'zod';
import { messageOf } from './support/error-of.ts';

const When = z.object({ date: z.string() });

function greets(message: string, maxTokens: number) {
  return saga({ name: 'greets', version: '1' }, function* () {
    const { date } = yield* elicit('date', { message, schema: When });
    const content = {
      type: 'text',
      text: 'A birthday greeting for Ann, in one line, with content.',
    } as const;
    yield* sample('greeting', { messages: [{ role: 'user', content }], maxTokens });
    yield* checkpoint();
    return date;
  });
}

/** Asks in a state, and continues to another state. */
function cake(first: string, invoked: string): Program {
  const machine = setup({
    actors: { ask: elicitInMachine({ message: 'When?', schema: When }) },
  }).createMachine({
    id: 'cake',
    initial: first,
    states: {
      [first]: { invoke: { id: invoked, src: 'ask', onDone: 'done' } },
      done: { type: 'final' },
    },
    output: 'baked',
  });
  return machineSaga({ name: 'cake', version: '1', reuse: 'ok' }, machine);
}

const script = testSaga(greets('When?', 60))
  .on.elicit('date', { date: 'now' })
  .on.sample('greeting', 'Hi');

describe('[R3] a saga in flight that new code cannot continue', () => {
  it('shows both texts of a reworded question', async () => {
    const message = await messageOf(upgradeEverywhere(script, greets('When, dear?', 60)));
    expect(message).toContain(
      "recorded: elicit 'date': When?\n        now asks: elicit 'date': When, dear? (with other content)",
    );
    expect(message).toContain("yield* patched('…')");
  });

  it('explains a difference outside of equal texts', async () => {
    const line = 'A birthday greeting for Ann, in one line, with content.';
    const upgraded = await messageOf(upgradeEverywhere(script, greets('When?', 99)));
    expect(upgraded).toContain(
      `now asks: sample 'greeting': ${line} (the text is the same, but other parameters differ)`,
    );
    const { recording } = await script.run();
    const replayed = await messageOf(replayRecording(recording, [greets('When?', 99)]));
    expect(replayed.replaceAll(/[|\s]+/g, ' ')).toContain(
      '(the text is the same, but other parameters differ)',
    );
    // Lines are broken between words.
    expect(replayed).toMatch(/for Ann, in one line, +\|.*\n +with content\. +\|/);
  });

  it('shows the incompatibilities of a changed machine', async () => {
    const asked = testSaga(cake('asking', 'day')).on.elicit('day', { date: 'now' });
    const message = await messageOf(upgradeEverywhere(asked, cake('asking', 'date')));
    expect(message).toContain("saga 'cake'");
    expect(message).toMatch(/no active state invokes the actor 'day' any more/);
    expect(message).toContain('the IDs of their invokes');
    expect(message).not.toContain('patched');
    expect(message).not.toContain("machine ''");
  });
});

describe('[R5] an older version with a date', () => {
  const until = new Date('2027-01-01');
  const asks = (version: string, id: string, previous: readonly PreviousProgram[] = []) =>
    saga({ name: 'asks', version, previous }, function* () {
      const { date } = yield* elicit(id, { message: 'When?', schema: When });
      return date;
    });
  const old = asks('1', 'date');
  const next = asks('2', 'day', [{ saga: old, until }]);

  it('continues at the default time of a run, which is later', async () => {
    const asked = testSaga(old).on.elicit('date', { date: 'now' });
    expect(await upgradeEverywhere(asked, next)).toEqual({ cases: 1, problems: [] });
  });

  it.each([
    ['before', until.getTime() - 1, 0],
    ['after', until.getTime(), 1],
  ] as const)(
    'continues or not by the clock of the script: %s the date',
    async (_, clock, expected) => {
      const asked = testSaga(old, { clock }).on.elicit('date', { date: 'now' });
      const { problems } = await upgradeEverywhere(asked, next, { reportOnly: true });
      expect(problems).toHaveLength(expected);
    },
  );
});

describe('a saga in flight that the same body can continue', () => {
  const waits = (reuse: 'ok' | undefined) =>
    saga({ name: 'waits', version: '1', reuse }, function* () {
      yield* step('look', () => 1);
      yield* sleep(3_600_000);
      return 'done';
    });

  it.each([
    ['keeps its guard', undefined, undefined],
    ['gets its first guard', 'ok', undefined],
    ['has no guard any more', undefined, 'ok'],
  ] as const)('[T13] [R3] is continued after a wait if it %s', async (_, before, after) => {
    const check = ({ result }: { readonly result: unknown }): void => expect(result).toBe('done');
    const report = await upgradeEverywhere(testSaga(waits(before)), waits(after), { check });
    expect(report).toEqual({ cases: 1, problems: [] });
  });

  it('[T13] rejects a second use after the upgrade of a token that the old code used', async () => {
    const asks = saga({ name: 'asks', version: '1' }, function* () {
      const { date } = yield* elicit('date', { message: 'When?', schema: When });
      yield* sleep(3_600_000);
      return date;
    });
    const check = async (run: SagaRun): Promise<void> => {
      const { status, points } = await run.at('date').fork({ date: 'later' });
      expect([status, points]).toEqual(['refused', []]);
    };
    await upgradeEverywhere(testSaga(asks).on.elicit('date', { date: 'now' }), asks, { check });
  });
});

describe('[R3] a saga in flight whose answers or code the new code does not take', () => {
  const asks = (amount: z.ZodNumber | z.ZodString, { name = 'asks', version = '1' } = {}) =>
    saga({ name, version }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
      const given = yield* elicit('amount', { message: 'How much?', schema: z.object({ amount }) });
      return String(given.amount);
    });
  const old = asks(z.number().min(1));
  const asked = testSaga(old).on.elicit('sure', { sure: true }).on.elicit('amount', { amount: 20 });
  const linesFor = async (next: Program): Promise<readonly (readonly string[])[]> => {
    const { problems } = await upgradeEverywhere(asked, next, { reportOnly: true });
    return problems.map((problem) => linesOf(problem).map((line) => line.trim()));
  };

  it.each([
    ['a higher minimum', z.number().min(50), 'amount: Too small: expected number to be >=50'],
    ['another type', z.string(), 'amount: expected string'],
  ])('is reported at the token that waits for the answer: %s', async (_, amount, reason) => {
    expect(await linesFor(asks(amount))).toEqual([
      [
        'after turn 2, waiting for amount:',
        `the new code rejects the answer to 'amount', and asks again: ${reason}`,
      ],
    ]);
    await expect(upgradeEverywhere(asked, asks(amount))).rejects.toMatchObject({
      code: 'violated',
    });
  });

  it('is no problem if the new form takes the answer', async () => {
    expect(await linesFor(asks(z.number().min(2)))).toEqual([]);
  });

  it('is an error of the script if only the new code asks the question', async () => {
    const silent = saga({ name: 'asks', version: '1' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
      return 'done';
    });
    const scripted = testSaga(silent)
      .on.elicit('sure', { sure: true })
      .on.elicit('amount', { amount: 20 });
    await expect(
      upgradeEverywhere(scripted, asks(z.number().min(50)), { reportOnly: true }),
    ).rejects.toMatchObject({ code: 'answer_not_accepted' });
  });

  it.each([
    [
      'version',
      { version: '2' },
      "the new code is version '2' of 'asks', and does not serve version '1'.",
    ],
    [
      'name',
      { name: 'pays' },
      "the new code is version '1' of 'pays', and does not serve the saga 'asks'.",
    ],
  ])('is reported with the %s that the new code does not serve', async (_, other, line) => {
    const next = asks(z.number().min(1), other);
    expect((await linesFor(next)).map(([, ...lines]) => lines)).toEqual([[line], [line]]);
    const { problems } = await upgradeEverywhere(asked, next, { reportOnly: true });
    expect(problems.map(({ error }) => (error as Error).cause)).toEqual([
      expect.any(Error),
      expect.any(Error),
    ]);
  });
});
