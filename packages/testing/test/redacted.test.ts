import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  step,
  type Program,
  type SagaTurn,
} from '@mcp-saga/server';
import {
  joinRecording,
  recordSagas,
  replayRecording,
  type RecordedTurn,
  type Recording,
  type Redact,
} from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bookOf, input, machineOf, named } from './sagas/booking.ts';

const answers: { readonly [id: string]: object } = { greet: {}, book: { sure: true } };

async function taken(
  program: Program,
  options: Parameters<typeof recordSagas>[1],
): Promise<SagaTurn> {
  const host = createSagaHost({
    sagas: recordSagas([program], options),
    keys: generateKey(),
    name: 'shop',
    store: memoryStore(),
    hooks: { onTurn: () => undefined },
  });
  let turn = await host.start(program.name, { who: 'Ada' });
  while (turn.status === 'suspended') {
    const given = turn.steps.map(({ stepId }) => {
      return { stepId, result: { action: 'accept', content: answers[stepId.replace(/@.*/, '')] } };
    });
    turn = await host.resume(turn.token, given as never);
  }
  return turn;
}

async function recorded(redact: Redact, program = bookOf()): Promise<Recording> {
  const kept: string[] = [];
  await taken(program, {
    redact,
    onTurn: (turn) => kept.push(JSON.stringify(joinRecording([turn]))),
  });
  return JSON.parse(kept[0] ?? '') as Recording;
}

const held: Redact = (value, { id }) => (id === 'hold' ? { id: 'room' } : value);
const anyone: Redact = (value, { kind }) => (kind === 'input' ? { who: 'someone' } : value);

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'replay_mismatch' });
  return (error as Error).message;
}

describe('a recording with redacted values', () => {
  it.each<[string, Redact]>([
    ['a result', held],
    ['an input', anyone],
    ['both', (value, of) => held(anyone(value, of), of)],
    ['an answer', (value, { id }) => (id === 'book' ? { sure: false } : value)],
  ])(
    '[R3] replays with the same code if questions, inputs, and the result contain %s',
    async (_, redact) => {
      const recording = await recorded(redact);
      await replayRecording(recording, [bookOf()]);
      const text = JSON.stringify({ ...recording, end: undefined });
      if (redact !== held) return;
      expect(text).not.toContain('4711');
    },
  );

  it("[R3] replays with onMismatch: 'compensate'", async () => {
    const program = bookOf({ onMismatch: 'compensate' });
    const recording = await recorded(held, program);
    await replayRecording(recording, [program]);
    const changed = bookOf({ onMismatch: 'compensate', pays: 'charge' });
    expect(await messageOf(replayRecording(recording, [changed]))).toContain("Redacted: 'hold'.");
  });

  it('[R3] replays if the arguments of a named compensator were redacted', async () => {
    const recording = await recorded(held, named());
    expect(recording.happened).toMatchObject([
      { kind: 'step', id: 'hold', redacted: ['value'] },
      { kind: 'compensate', id: 'hold', redacted: ['value'] },
      { id: 'pay' },
    ]);
    await replayRecording(recording, [named()]);
  });

  it('lists the redacted values, if any', async () => {
    expect(await recorded(held)).toMatchObject({
      happened: [
        { id: 'greet' },
        { id: 'hold', redacted: ['value'] },
        { id: 'book' },
        { id: 'pay' },
      ],
    });
    expect(await recorded(anyone)).toMatchObject({
      input: { who: 'someone' },
      redacted: ['input'],
    });
    expect(JSON.stringify(await recorded((value) => value))).not.toContain('redacted');
  });

  it('[R3] is compared in full before the first redacted value', async () => {
    const recording = await recorded(held);
    const message = await messageOf(replayRecording(recording, [bookOf({ hello: 'Hi' })]));
    expect(message).toContain('asks greet: Hi Ada?');
    expect(message).not.toContain('Redacted');
    const whole = await recorded((value) => value);
    await messageOf(replayRecording(whole, [bookOf({ result: 'done' })]));
    // A recording whose redaction marks are lost.
    const unmarked: unknown = JSON.parse(
      JSON.stringify(recording).replace(',"redacted":["value"]', ''),
    );
    expect(unmarked).not.toEqual(recording);
    expect(await messageOf(replayRecording(unmarked, [bookOf()]))).toContain(
      'asks book: Book room?',
    );
  });

  it('[R3] compares only kinds and IDs after a redacted value, and explains why', async () => {
    const recording = await recorded(held);
    await replayRecording(recording, [bookOf({ result: 'done' })]);
    expect(await messageOf(replayRecording(recording, [bookOf({ pays: 'charge' })])))
      .toMatchInlineSnapshot(`
      "The current code differs from the recording of 'book'.

          recorded                            | now
          greet accepted: {}                  | greet accepted: {}
          hold done: {"id":"room"}            | hold done: {"id":"room"}
          book accepted: {"sure":true}        | book accepted: {"sure":true}
        > pay done: "paid"                    | runs charge "room"
          completed: "r-4711 is booked: true" |

      Redacted: 'hold'. Values derived from redacted values are not compared. If a decision, an ID, or a key depends on such a value, let \`redact\` keep enough of it, and record again. Otherwise:

      Sagas of version '1' in flight cannot continue from here. Give the changed saga a new version and keep this one in \`previous\`, or put the change behind \`if (yield* patched(…))\`."
    `);
    const renamed = await messageOf(replayRecording(recording, [bookOf({ holds: 'reserve' })]));
    expect(renamed).not.toContain('Redacted');
    const emptied = await recorded((value, { id }) => (id === 'hold' ? { id: '' } : value));
    const decided = await messageOf(replayRecording(emptied, [bookOf()]));
    expect(decided).toContain("Redacted: 'hold'.");
    expect(decided).toContain('failed: TypeError: no room');
  });

  it('[R3] compares the question of a redacted answer', async () => {
    const recording = await recorded((value, { id }) =>
      id === 'greet' ? { hidden: true } : value,
    );
    const message = await messageOf(replayRecording(recording, [bookOf({ hello: 'Hi' })]));
    expect(message).toContain('asks greet: Hi Ada?');
    expect(message).not.toContain('Redacted');
  });

  it('[R3] distinguishes a question from a step with the same ID after a redacted value', async () => {
    const asked = saga({ name: 'book', version: '1', input }, function* () {
      yield* elicit('greet', { message: 'Hello Ada?', schema: z.object({}) });
      const room = yield* step('hold', () => ({ id: '' }));
      yield* step('book', () => true, { input: room.id });
      return 'booked';
    });
    expect(await messageOf(replayRecording(await recorded(held), [asked]))).toContain('runs book');
  });

  it('[R3] reports a body that asks differently in each replay after a redacted value', async () => {
    let time = 0;
    const varying = saga({ name: 'book', version: '1', input }, function* () {
      yield* elicit('greet', { message: 'Hello Ada?', schema: z.object({}) });
      yield* step('hold', () => 'room', { input: `at ${(time += 1)}` });
      return 'greeted';
    });
    const message = await messageOf(replayRecording(await recorded(anyone), [varying]));
    expect(message).toContain('Redacted: the input.');
    // One replay of the recorded code, one of the current code, and one up to this point.
    expect(time).toBe(3);
  });

  it('lists the redacted values before the mismatch', async () => {
    const recording = await recorded((value, of) => held(anyone(value, of), of));
    const message = await messageOf(replayRecording(recording, [bookOf({ pays: 'charge' })]));
    expect(message).toContain("Redacted: the input and 'hold'.");
    const { message: both } = await replayRecording(await recorded(held, named()), [
      named('charge'),
    ]).then(
      () => new Error('the same'),
      (error: Error) => error,
    );
    expect(both).toContain("Redacted: 'hold'.");
  });

  it('is rejected if its redaction marks are malformed', async () => {
    const recording = await recorded(held);
    await expect(replayRecording({ ...recording, redacted: true }, [bookOf()])).rejects.toThrow(
      'redacted must be of type array',
    );
  });
});

describe('a recording of a machine with redacted values', () => {
  const turnsOf = async (redact: Redact): Promise<readonly RecordedTurn[]> => {
    const turns: RecordedTurn[] = [];
    const options = {
      redact,
      onTurn: (turn: RecordedTurn) => turns.push(JSON.parse(JSON.stringify(turn)) as RecordedTurn),
    };
    await taken(machineOf(), options);
    return turns;
  };

  const value: Redact = (given, of) => (of.part === 'value' ? held(given, of) : given);

  it.each<[string, Redact]>([
    ['a result', value],
    ['an input', anyone],
  ])(
    '[R3] replays with the same code if questions, inputs, and the result contain %s',
    async (_, redact) => {
      const recording = joinRecording(await turnsOf(redact));
      await replayRecording(recording, [machineOf()]);
    },
  );

  it('[R3] is compared in full before the first redacted value, and by kind and ID after it', async () => {
    const turns = await turnsOf(value);
    const greeted = await messageOf(replayRecording(turns, [machineOf({ hello: 'Hi' })]));
    expect(greeted).toMatch(/> asks greet: Hello Ada\? +\| asks greet: Hi Ada\?/);
    expect(greeted).not.toContain('Redacted');
    const paid = await messageOf(replayRecording(turns, [machineOf({ pays: 'charge' })]));
    expect(paid).toContain("Redacted: 'hold'.");
    expect(paid).toMatch(/> pay done: .*\| runs charge/);
    await messageOf(replayRecording(turns, [machineOf({ asks: 'reserve' })]));
    const whole = await turnsOf((given) => given);
    expect(JSON.stringify(whole)).not.toContain('redacted');
  });

  it('is compared in full if only inputs of steps were redacted', async () => {
    const turns = await turnsOf((given, { part, id }) =>
      part === 'given' && id === 'greet' ? null : given,
    );
    const { end } = joinRecording(turns);
    await replayRecording(turns, [machineOf()]);
    const other = turns.map((turn) =>
      turn.end === undefined ? turn : { ...turn, end: { ...end, result: 'else' } },
    );
    await messageOf(replayRecording(other, [machineOf()]));
  });
});
