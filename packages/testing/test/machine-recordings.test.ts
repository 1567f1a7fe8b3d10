import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  continueAs,
  elicit,
  saga,
  SagaError,
  type Program,
  type StepError,
} from '@mcp-saga/server';
import {
  formatRecording,
  replayRecording,
  testSaga,
  type SagaRun,
  type TestSaga,
} from '@mcp-saga/testing';
import { replayRecordings } from '@mcp-saga/testing/node';
import { machineSaga, step } from '@mcp-saga/xstate';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { parcel } from './sagas/parcel.ts';
import { waiterOf } from './sagas/waiter.ts';
import { done, shipping, shippingOf, type ShippingChanges } from './sagas/shipping.ts';

const folder = mkdtempSync(join(tmpdir(), 'machines-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  done.length = 0;
});

const input = { cents: 900, card: '4111' };
const host = { starts: { unkeyed: 'run' } } as const;
const script = (program = shipping, given: unknown = input): TestSaga =>
  testSaga(program, { input: given, host });
const shipped = script().on.elicit('sure', { sure: true });

/** Replays what a run was on a saga, from its file's text. */
async function replayed(
  { recording }: Pick<SagaRun, 'recording'>,
  program: Program,
): Promise<void> {
  await replayRecording(JSON.parse(JSON.stringify(recording)), [program]);
}

/** A machine whose output is what it sees of the thrown value of its step. */
function catching(thrown: unknown): Program {
  const machine = setup({
    types: { output: {} as string, context: {} as { seen: string } },
    actors: {
      ship: step((): void => {
        throw thrown;
      }),
    },
  }).createMachine({
    context: { seen: '' },
    initial: 'shipping',
    states: {
      shipping: {
        invoke: {
          id: 'ship',
          src: 'ship',
          onError: {
            target: 'failed',
            actions: assign(({ event }) => {
              const { name, message, data, public: isPublic } = event.error as StepError;
              return { seen: JSON.stringify([name, message, data, isPublic]) };
            }),
          },
        },
      },
      failed: { type: 'final' },
    },
    output: ({ context }) => context.seen,
  });
  return machineSaga({ name: 'catching', version: '1' }, machine);
}

describe('a recording of a machine', () => {
  it('is a readable file with its turns, without keys and tokens', async () => {
    const run = await shipped.fail.step('ship', new Error('no truck')).run();
    const file = join(folder, 'read', 'shipping.json');
    await run.save(file);
    const text = readFileSync(file, 'utf8');
    expect(text).toMatchInlineSnapshot(`
      "{
        "recording": 1,
        "kind": "turns",
        "saga": "shipping",
        "version": "1",
        "input": { "cents": 900, "card": "4111" },
        "turns": [
          { "time": "2030-01-15T12:00:00.000Z", "host": { "budget": 25000, "maxHold": 20000 } },
          { "time": "2030-01-15T12:00:00.000Z", "host": { "budget": 25000, "maxHold": 20000 } }
        ],
        "happened": [
          { "turn": 1, "kind": "step", "id": "quote", "outcome": "done", "given": { "cents": 900 }, "value": 900 },
          { "turn": 1, "kind": "step", "id": "charge", "outcome": "done", "given": { "cents": 900, "card": "4111" }, "value": { "id": "ch_900" } },
          { "turn": 1, "kind": "elicit", "id": "sure", "outcome": "asked", "given": { "message": "Ship it? (4111)", "requestedSchema": { "type": "object", "properties": { "sure": { "type": "boolean" } }, "required": ["sure"] } } },
          { "turn": 1, "kind": "wait", "id": "", "outcome": "waits", "latest": 600000 },
          { "turn": 2, "kind": "elicit", "id": "sure", "outcome": "accepted", "value": { "sure": true }, "by": "client" },
          { "turn": 2, "kind": "step", "id": "ship", "outcome": "failed", "value": { "name": "Error", "message": "no truck" } },
          { "turn": 2, "kind": "step", "id": "~charge", "outcome": "done" }
        ],
        "end": { "status": "failed", "error": { "name": "Error", "message": "no truck" }, "compensated": ["charge"], "uncompensated": [] }
      }
      "
    `);
    expect(JSON.parse(text)).toEqual(run.recording);
    for (const { token } of run.points) expect(text).not.toContain(token);
  });

  it('has the causes of an error, which a machine may read', async () => {
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET', cause: 'cable' });
    const fetches = setup({
      types: { output: {} as string, context: {} as { why: string } },
      actors: {
        fetch: step((): void => {
          throw Object.assign(new TypeError('failed', { cause: reset }), { status: 502 });
        }),
      },
    }).createMachine({
      context: { why: '' },
      initial: 'fetching',
      states: {
        fetching: {
          invoke: {
            id: 'fetch',
            src: 'fetch',
            onError: {
              target: 'failed',
              actions: assign(({ event }) => {
                const { status, cause } = event.error as StepError & { cause?: typeof reset };
                return { why: `${status} ${cause?.code} ${cause?.cause}` };
              }),
            },
          },
        },
        failed: { type: 'final' },
      },
      output: ({ context }) => context.why,
    });
    const program = machineSaga({ name: 'fetches', version: '1' }, fetches);
    const run = await testSaga(program).run();
    expect(run.result).toBe('502 ECONNRESET cable');
    await replayed(run, program);
  });

  it.each<[string, unknown]>([
    ['a number', 42],
    ['a long string', 'no truck '.repeat(200)],
    ['an object without a message', { status: 503 }],
    ['nothing', undefined],
    ['a public error with a long message', new SagaError('no truck '.repeat(200))],
    [
      'a public error with much data',
      Object.assign(new SagaError('no truck'), { data: '.'.repeat(5000) }),
    ],
    [
      'another error that calls itself public',
      Object.assign(new Error('no truck '.repeat(200)), { public: true }),
    ],
  ])('[R3] shows the machine the same error again if a step threw %s', async (_, thrown) => {
    const run = await testSaga(catching(thrown)).run();
    expect(run.status).toBe('completed');
    await replayed(run, catching(thrown));
  });

  it('has the message that the machine sees of a number that a step throws', async () => {
    const { recording, result } = await testSaga(catching(42)).run();
    expect(result).toBe('["Error","42",null,false]');
    expect(recording.happened[0]?.value).toEqual({ name: 'Error', message: '42' });
  });

  it.each<[string, TestSaga]>([
    ['that completed', shipped],
    ['of which the user was not sure', script().on.elicit('sure', { sure: false })],
    ['that was declined', script().refuse.elicit('sure')],
    ['that was dismissed', script().refuse.elicit('sure', 'cancel')],
    ['whose client failed', script().fail.client('sure', 'no screen')],
    ['that was cancelled', script().cancel.at('sure', 'too late')],
    [
      'that was answered otherwise than asked, and asked again',
      script().on.elicit('sure', ({ before }) => ({ sure: before === 0 ? 'perhaps' : true })),
    ],
    [
      'that is handed a token before anything runs',
      testSaga(shipping, { input }).refuse.elicit('sure'),
    ],
    ['that asked nothing', script(shipping, { ...input, cents: 1 })],
    ['whose step was tried again', shipped.fail.step('charge', new Error('busy'), { times: 2 })],
    ['whose step failed', shipped.fail.step('charge', new Error('broke'))],
    [
      'whose step said that it need not be tried again',
      shipped.fail.step('charge', Object.assign(new Error('bad card'), { status: 400 })),
    ],
    [
      'whose step failed when it had to be undone',
      shipped.fail.step('ship', new Error('no truck')),
    ],
    ['whose step took too long', shipped.timeout.step('charge', { times: 1 })],
    ['whose step always took too long', shipped.timeout.step('charge')],
    ['whose step is not known to have happened', shipped.lose.step('charge', { times: 1 })],
    ['whose step threw something odd', shipped.fail.step('ship', 'no truck')],
    ['whose promise was broken', shipped.fail.step('quote', new Error('no quote'))],
    [
      'whose undo failed once',
      script().refuse.elicit('sure').fail.undo('charge', new Error('down'), { times: 1 }),
    ],
    ['whose undo failed', script().refuse.elicit('sure').fail.undo('charge', new Error('down'))],
    ['that died on the way', shipped.crash.after('ship').crash.before('charge')],
    ['whose response was lost', shipped.lose.response(1).lose.response(2)],
    ['whose client cannot be asked', shipped.deny.client('elicitation')],
    ['whose step gave what cannot be kept', shipped.on.step('ship', () => Symbol('odd') as never)],
    [
      'whose step gave what JSON lacks',
      shipped.on.step('charge', () => ({ id: 'ch', at: new Date(0), big: 9n })),
    ],
  ])('[R3] of a saga %s replays with the same code, and runs nothing', async (_, test) => {
    const run = await test.run();
    done.length = 0;
    await replayed(run, test.saga);
    expect(done).toEqual([]);
  });

  it('records how each question was answered', async () => {
    const outcomeOf = async (test: TestSaga): Promise<string | undefined> =>
      (await test.run()).recording.happened.find(({ turn, id }) => turn === 2 && id === 'sure')
        ?.outcome;
    expect(await outcomeOf(shipped)).toBe('accepted');
    expect(await outcomeOf(script().refuse.elicit('sure'))).toBe('declined');
    expect(await outcomeOf(script().refuse.elicit('sure', 'cancel'))).toBe('cancelled');
    expect(await outcomeOf(script().fail.client('sure', 'no screen'))).toBe('error');
  });

  it('of a fork contains the end of the fork', async () => {
    const run = await shipped.run();
    const fork = await run.at('sure').fork({ sure: false });
    expect(fork.recording.end).toMatchObject({ status: 'failed', compensated: ['charge'] });
    await replayed(fork, shipping);
  });
});

describe('a recorded delay of a machine', () => {
  const looking = (took: number, program = waiterOf(10_000, 5_000)): TestSaga =>
    testSaga(program).on.step('look', async ({ sleep }) => {
      await sleep(took);
      return 'found';
    });

  it.each([
    ['is held in the request', looking(0)],
    ['is waited for between two requests', looking(0, waiterOf(100_000, 5_000))],
    ['does not stop a fast effect', looking(4_999)],
    ['stops a slow effect', looking(5_001)],
    ['ends together with its effect', looking(5_000)],
  ])('[R3] %s, and replays', async (_, test) => {
    await replayed(await test.run(), test.saga);
  });

  it('shows a change of its duration', async () => {
    const parts = (program: Program, run: SagaRun): Promise<string> =>
      replayed(run, program).then(
        () => 'same',
        (error: Error) => error.message,
      );
    const late = await looking(5_001).run();
    expect(await parts(waiterOf(9_000, 5_000), late)).toMatch(
      /> waited 10000 ms +\| waited 9000 ms\n/,
    );
    expect(await parts(waiterOf(10_000, 6_000), late)).toMatch(
      /> waited 5000 ms +\| waited 6000 ms\n/,
    );
    const between = await looking(0, waiterOf(100_000, 5_000)).run();
    expect(await parts(waiterOf(200_000, 5_000), between)).toMatch(
      /> waits 100000 ms, at the latest 100000 ms +\| waits 200000 ms, at the latest 200000 ms\n/,
    );
    expect(await parts(waiterOf(9_000, 5_000), between)).toMatch(
      /> waits 100000 ms.+\| waited 9000 ms\n/,
    );
  });

  it('contains a delay that ended right after the step', async () => {
    const { recording } = await looking(0).run();
    const passed = (waited: number): object => {
      const raced = { turn: 1, kind: 'wait', id: '', outcome: 'passed', ms: 5_000, waited };
      return { ...recording, happened: [...recording.happened, raced] };
    };
    await replayRecording(passed(0), [waiterOf(10_000, 5_000)]);
    await expect(replayRecording(passed(1), [waiterOf(10_000, 5_000)])).rejects.toThrow(
      '> waited 5000 ms',
    );
  });
});

it('[R3] a recording contains the machine that a generator continued as', async () => {
  const first: Program = saga({ name: 'first', version: '1' }, function* () {
    yield* elicit('go', { message: 'Go?', schema: z.object({}) });
    return yield* continueAs(shipping as never, input as never);
  });
  const sagas = [shipping];
  const run = await testSaga(first, { sagas })
    .on.elicit('go', {})
    .on.elicit('sure', { sure: true })
    .run();
  expect(run.recording).toMatchObject({
    end: { status: 'continued', saga: 'shipping' },
    next: {
      kind: 'turns',
      turns: [{ host: { hasToken: true } }, {}],
      input,
      end: { status: 'completed' },
    },
  });
  const recording = JSON.parse(formatRecording(run.recording)) as unknown;
  await replayRecording(recording, [first, ...sagas]);
  const now = [first, shippingOf({ ships: false })];
  await expect(replayRecording(recording, now)).rejects.toThrow(
    "'first' (continued), from turn 2 on",
  );
});

describe('an invalid recording file', () => {
  it.each<[string, (file: Broken) => unknown, string]>([
    ['of another kind', (file) => ({ ...file, kind: 'film' }), 'Unknown kind of recording: "film"'],
    ['of a newer format', (file) => ({ ...file, recording: 2 }), 'Unknown format of recording: 2'],
    ['without its turns', (file) => ({ ...file, turns: undefined }), 'turns is not a list'],
    [
      'with a turn without a time',
      (file) => ({ ...file, turns: [{ host: {} }] }),
      'turns[0].time is not a time',
    ],
    [
      'with a turn too few',
      (file) => ({ ...file, turns: file.turns.slice(1) }),
      'happened[4].turn is out of order',
    ],
    ['without its arguments', (file) => ({ ...file, input: undefined }), 'input is missing'],
    ['with another saga', (file) => ({ ...file, saga: 7 }), 'saga must be of type string'],
    ['with an invalid ID', (file) => changed(file, { id: 7 }), 'happened[0].id must be'],
    ['with an invalid run', (file) => changed(file, { run: 'x' }), 'happened[0].run must be'],
    ['with another end', (file) => ({ ...file, end: { status: 'lost' } }), 'end.status is unknown'],
    ['with half an end', (file) => ({ ...file, end: { status: 'failed' } }), 'end.error must be'],
    ['with invalid turns', () => [{ kind: 'turn' }], 'Not a recorded turn'],
  ])('causes an error that names the problem: %s', async (_, broken, message) => {
    const { recording } = await shipped.run();
    const file = JSON.parse(formatRecording(recording)) as Broken;
    await expect(replayRecording(broken(file), [shipping])).rejects.toThrow(message);
  });
});

interface Broken {
  readonly [field: string]: unknown;
  readonly turns: readonly object[];
  readonly happened: readonly object[];
}

function changed(file: Broken, fields: object): Broken {
  const [first, ...rest] = file.happened;
  return { ...file, happened: [{ ...first, ...fields }, ...rest] };
}

describe('the check of machine recordings before a deployment', () => {
  const partsAt = async (changes: ShippingChanges, test = shipped): Promise<string> => {
    const run = await test.run();
    const error: unknown = await replayed(run, shippingOf(changes)).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'replay_mismatch' });
    return (error as Error).message;
  };

  it('[R3] shows a changed question, and explains the effect on sagas in flight', async () => {
    expect(await partsAt({ message: 'Really ship it?' })).toMatchInlineSnapshot(`
      "The current code differs from the recording of 'shipping', from turn 1 on.

          recorded                                | now
          quote done: 900                         | quote done: 900
          charge done: {"id":"ch_900"}            | charge done: {"id":"ch_900"}
        > asks sure: Ship it? (4111)              | asks sure: Really ship it? (4111)
          waits, at the latest 600000 ms          |
          sure accepted: {"sure":true}            |
          ship done                               |
          completed: "On its way, paid by ch_900" |

      Sagas in flight continue from their state if the changed code still has that state: an open question is asked again in its new form, and the current code decides the rest. If that is intended, record again. Otherwise, or to let sagas of version '1' end as they began, give the changed saga a new version and keep this one in \`previous\`."
    `);
  });

  it('[R3] shows a renamed invoke', async () => {
    expect(await partsAt({ question: 'agreed' })).toContain(
      '> asks sure: Ship it? (4111)              | asks agreed: Ship it? (4111)',
    );
  });

  it('shows an effect that no longer runs', async () => {
    expect(await partsAt({ ships: false })).toContain(
      '> ship done                               | completed: "On its way, paid by ch_900"',
    );
  });

  it('shows an additional effect', async () => {
    expect(await partsAt({ mails: true })).toContain(
      '> completed: "On its way, paid by ch_900" | runs mail',
    );
  });

  it('shows a guard that decides differently', async () => {
    expect(await partsAt({ asksFrom: 1_000 })).toContain(
      '> asks sure: Ship it? (4111)              | runs ship',
    );
    expect(await partsAt({ asksFrom: 1 }, script(shipping, { ...input, cents: 100 }))).toMatch(
      /> ship done {2,}\| asks sure: Ship it\? \(4111\)\n/,
    );
  });

  it('shows a changed delay, even if it did not end', async () => {
    expect(await partsAt({ patience: 60_000 })).toContain(
      '> waits, at the latest 600000 ms          | waits, at the latest 60000 ms',
    );
  });

  it('shows a changed input of an effect', async () => {
    expect(await partsAt({ fee: 5 })).toMatch(
      /> charge done, input\.cents: 900 {2,}\| charge done, input\.cents: 905\n/,
    );
  });

  it('shows a form with a changed schema', async () => {
    expect(await partsAt({ field: z.string() })).toMatch(
      /sure\.type: "boolean" +\| +params\.\S+\.sure\.type: "string"\n/,
    );
  });

  it('shows arguments that the schema no longer accepts', async () => {
    expect(await partsAt({ input: z.object({ cents: z.string() }) })).toContain(
      "The current code rejects the arguments of the recording of 'shipping'",
    );
  });

  it('shows a changed end unless ends are ignored', async () => {
    expect(await partsAt({ says: 'Sent' })).toContain(
      '> completed: "On its way, paid by ch_900" | completed: "Sent, paid by ch_900"',
    );
    const { recording } = await shipped.run();
    await replayRecording(recording, [shippingOf({ says: 'Sent' })], { ends: 'ignore' });
  });

  it('shows an answer that the schema no longer accepts', async () => {
    expect(await partsAt({ field: z.boolean().refine((sure) => !sure) })).toMatch(
      /> sure accepted: \{"sure":true\} +\| sure accepted: \{"sure":true\}, not used: invalid\n/,
    );
  });

  it('shows an additional effect in a turn, and a step that was a poll', async () => {
    const { recording } = await shipped.run();
    const happened = recording.happened.filter(({ outcome }) => outcome !== 'waits');
    await expect(replayRecording({ ...recording, happened }, [shipping])).rejects.toThrow(
      /> \(nothing more in this turn\) +\| waits, at the latest 600000 ms\n/,
    );
    const [quote, ...rest] = recording.happened;
    await expect(
      replayRecording({ ...recording, happened: [{ ...quote, kind: 'poll' }, ...rest] }, [
        shipping,
      ]),
    ).rejects.toThrow(/> quote done, as poll +\| quote done, as step\n/);
  });

  it('shows an awaited effect that had not ended', async () => {
    const { recording } = await shipped.run();
    const happened = recording.happened.map((event) =>
      event.id === 'ship' ? { ...event, outcome: 'not ended' } : event,
    );
    await expect(replayRecording({ ...recording, happened }, [shipping])).rejects.toThrow(
      /> ship not ended +\| waits for ship, which had not ended\n/,
    );
  });

  it('stops waiting for a schema that never settles', async () => {
    const never = z.boolean().refine(() => new Promise<boolean>(() => undefined));
    expect(await partsAt({ field: never })).toMatch(/> ship done +\| never ends\n/);
  });

  it('[R5] accepts another version of the saga, and not a removed version', async () => {
    const run = await shipped.run();
    await replayed(run, shippingOf({ version: '2', ships: false, previous: [shipping] }));
    await expect(replayed(run, shippingOf({ version: '2' }))).rejects.toThrow("(served: '2')");
  });

  it('rejects a machine for a recording of a generator', async () => {
    const { recording } = await testSaga(parcel).on.elicit('sure', { sure: true }).run();
    await expect(replayRecording({ ...recording, saga: 'shipping' }, [shipping])).rejects.toThrow(
      'recorded as a generator',
    );
  });

  it('creates a test for each file, of machines and generators', async () => {
    await (await shipped.run()).save(join(folder, 'gate/machine.json'));
    await (
      await testSaga(parcel).on.elicit('sure', { sure: true }).run()
    ).save(join(folder, 'gate/parcel.json'));
    const all = replayRecordings(join(folder, 'gate/*.json'), { sagas: [parcel, shipping] });
    expect(all).toHaveLength(2);
    await Promise.all(all.map(({ replay }) => replay()));
  });
});
