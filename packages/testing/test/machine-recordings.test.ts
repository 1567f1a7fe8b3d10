import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { continueAs, elicit, saga, type Program } from '@mcp-saga/server';
import { formatRecording, replayRecording, testSaga, type SagaRun, type TestSaga } from '@mcp-saga/testing';
import { replayRecordings } from '@mcp-saga/testing/node';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
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
const script = (program = shipping, given: unknown = input): TestSaga => testSaga(program, { input: given });
const shipped = script().on.elicit('sure', { sure: true });

/** Replays what a run was on a saga, from its file's text. */
async function replayed({ recording }: Pick<SagaRun, 'recording'>, program: Program): Promise<void> {
  await replayRecording(JSON.parse(JSON.stringify(recording)), [program]);
}

describe('a recording of a machine', () => {
  it('is a file that reads well, turn by turn, and holds no key and no token', async () => {
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
        "engine": 2,
        "input": { "cents": 900, "card": "4111" },
        "turns": [
          { "time": "2030-01-15T12:00:00.000Z", "host": { "budget": 25000, "maxHold": 20000 } },
          { "time": "2030-01-15T12:00:00.000Z", "host": { "budget": 25000, "maxHold": 20000 } }
        ],
        "happened": [
          { "turn": 1, "kind": "promise", "id": "quote", "outcome": "done", "given": { "cents": 900 }, "value": 900 },
          { "turn": 1, "kind": "step", "id": "charge", "outcome": "done", "given": { "cents": 900, "card": "4111" }, "value": { "id": "ch_900" } },
          { "turn": 1, "kind": "elicit", "id": "sure", "outcome": "asked", "given": { "message": "Ship it? (4111)", "requestedSchema": { "type": "object", "properties": { "sure": { "type": "boolean" } }, "required": ["sure"] } } },
          { "turn": 1, "kind": "wait", "id": "", "outcome": "waits", "latest": 600000 },
          { "turn": 2, "kind": "elicit", "id": "sure", "outcome": "accepted", "value": { "sure": true }, "by": "client" },
          { "turn": 2, "kind": "step", "id": "ship", "outcome": "failed", "value": { "name": "Error", "message": "no truck" } },
          { "turn": 2, "kind": "step", "id": "~charge", "outcome": "done" }
        ],
        "end": { "status": "failed", "error": { "name": "Error", "message": "no truck" }, "compensated": ["charge"], "residue": [] }
      }
      "
    `);
    expect(JSON.parse(text)).toEqual(run.recording);
    for (const { token } of run.points) expect(text).not.toContain(token);
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
      script(shippingOf({ commitFirst: true })).refuse.elicit('sure'),
    ],
    ['that asked nothing', script(shipping, { ...input, cents: 1 })],
    ['whose step was tried again', shipped.fail.step('charge', new Error('busy'), { times: 2 })],
    ['whose step failed', shipped.fail.step('charge', new Error('broke'))],
    [
      'whose step said that it need not be tried again',
      shipped.fail.step('charge', Object.assign(new Error('bad card'), { status: 400 })),
    ],
    ['whose step failed when it had to be undone', shipped.fail.step('ship', new Error('no truck'))],
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
  ])('[R3] of a saga %s replays on the same code, and nothing runs', async (_, test) => {
    const run = await test.run();
    done.length = 0;
    await replayed(run, test.saga);
    expect(done).toEqual([]);
  });

  it('says how each question was answered', async () => {
    const outcomeOf = async (test: TestSaga): Promise<string | undefined> =>
      (await test.run()).recording.happened.find(({ turn, id }) => turn === 2 && id === 'sure')?.outcome;
    expect(await outcomeOf(shipped)).toBe('accepted');
    expect(await outcomeOf(script().refuse.elicit('sure'))).toBe('declined');
    expect(await outcomeOf(script().refuse.elicit('sure', 'cancel'))).toBe('cancelled');
    expect(await outcomeOf(script().fail.client('sure', 'no screen'))).toBe('error');
  });

  it('of a run that went back to an older token tells how that one ended', async () => {
    const run = await shipped.run();
    const fork = await run.at('sure').fork({ sure: false });
    expect(fork.recording.end).toMatchObject({ status: 'failed', compensated: ['charge'] });
    await replayed(fork, shipping);
  });
});

describe('a delay of a machine that is recorded', () => {
  const looking = (took: number, program = waiterOf(10_000, 5_000)): TestSaga =>
    testSaga(program).on.step('look', async ({ sleep }) => {
      await sleep(took);
      return 'found';
    });

  it.each([
    ['is held in the request', looking(0)],
    ['is waited for between two', looking(0, waiterOf(100_000, 5_000))],
    ['leaves what works in time', looking(4_999)],
    ['stops what takes too long', looking(5_001)],
    ['is over when what it is for has ended', looking(5_000)],
  ])('[R3] %s, and passes as it did', async (_, test) => {
    await replayed(await test.run(), test.saga);
  });

  it('is seen to take another time', async () => {
    const parts = (program: Program, run: SagaRun): Promise<string> =>
      replayed(run, program).then(
        () => 'same',
        (error: Error) => error.message,
      );
    const late = await looking(5_001).run();
    expect(await parts(waiterOf(9_000, 5_000), late)).toMatch(/> waited 10000 ms +\| waited 9000 ms\n/);
    expect(await parts(waiterOf(10_000, 6_000), late)).toMatch(/> waited 5000 ms +\| waited 6000 ms\n/);
    const between = await looking(0, waiterOf(100_000, 5_000)).run();
    expect(await parts(waiterOf(200_000, 5_000), between)).toMatch(
      /> waits 100000 ms, at the latest 100000 ms +\| waits 200000 ms, at the latest 200000 ms\n/,
    );
    expect(await parts(waiterOf(9_000, 5_000), between)).toMatch(/> waits 100000 ms.+\| waited 9000 ms\n/);
  });

  it('is not missed that passed at the very time at which nobody waited for it any more', async () => {
    const { recording } = await looking(0).run();
    const passed = (waited: number): object => {
      const raced = { turn: 1, kind: 'wait', id: '', outcome: 'passed', ms: 5_000, waited };
      return { ...recording, happened: [...recording.happened, raced] };
    };
    await replayRecording(passed(0), [waiterOf(10_000, 5_000)]);
    await expect(replayRecording(passed(1), [waiterOf(10_000, 5_000)])).rejects.toThrow('> waited 5000 ms');
  });
});

it('[R3] a machine that a generator goes on as is recorded with it', async () => {
  const first: Program = saga({ name: 'first', version: '1' }, function* () {
    yield* elicit('go', { message: 'Go?', schema: z.object({}) });
    return yield* continueAs(shipping as never, input as never);
  });
  // It has a token when it begins: nothing is put off.
  const sagas = [shippingOf({ commitFirst: true })];
  const run = await testSaga(first, { sagas }).on.elicit('go', {}).on.elicit('sure', { sure: true }).run();
  expect(run.recording).toMatchObject({
    end: { status: 'continued', saga: 'shipping' },
    next: { kind: 'turns', turns: [{ host: { hasToken: true } }, {}], input, end: { status: 'completed' } },
  });
  const recording = JSON.parse(formatRecording(run.recording)) as unknown;
  await replayRecording(recording, [first, ...sagas]);
  const now = [first, shippingOf({ commitFirst: true, ships: false })];
  await expect(replayRecording(recording, now)).rejects.toThrow("'first', gone on says, from turn 2 on");
});

describe('a file that is no recording', () => {
  it.each<[string, (file: Broken) => unknown, string]>([
    [
      'of another kind',
      (file) => ({ ...file, kind: 'film' }),
      'kind "film", which this release does not know',
    ],
    ['of a newer format', (file) => ({ ...file, recording: 2 }), 'format 2; this release reads format 1'],
    ['without its turns', (file) => ({ ...file, turns: undefined }), 'its turns is no list'],
    [
      'with a turn without a time',
      (file) => ({ ...file, turns: [{ host: {} }] }),
      'its turns[0].time is no time',
    ],
    ['with a turn too few', (file) => ({ ...file, turns: file.turns.slice(1) }), 'its happened[4].turn'],
    ['without its arguments', (file) => ({ ...file, input: undefined }), 'its input is not as it should be'],
    ['with another saga', (file) => ({ ...file, saga: 7 }), 'its saga is not as it should be: string'],
    [
      'with an id that is none',
      (file) => changed(file, { id: 7 }),
      'its happened[0].id is not as it should be',
    ],
    ['with a run that is none', (file) => changed(file, { run: 'x' }), 'its happened[0].run is not'],
    ['with another end', (file) => ({ ...file, end: { status: 'lost' } }), 'its end.status is not known'],
    ['with half an end', (file) => ({ ...file, end: { status: 'failed' } }), 'its end.error is not as it'],
    ['of turns that are none', () => [{ kind: 'turn' }], 'no turn of a saga'],
  ])('says what is wrong with one %s', async (_, broken, message) => {
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

describe('the gate before a deploy of a machine', () => {
  const partsAt = async (changes: ShippingChanges, test = shipped): Promise<string> => {
    const run = await test.run();
    const error: unknown = await replayed(run, shippingOf(changes)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'replay_mismatch' });
    return (error as Error).message;
  };

  it('[R3] shows a question that says something else, and says what becomes of sagas under way', async () => {
    expect(await partsAt({ message: 'Really ship it?' })).toMatchInlineSnapshot(`
      "The code of today no longer does what the recording of 'shipping' says, from turn 1 on.

          recorded                                | now
          quote done: 900                         | quote done: 900
          charge done: {"id":"ch_900"}            | charge done: {"id":"ch_900"}
        > asks sure: Ship it? (4111)              | asks sure: Really ship it? (4111)
          waits, at the latest 600000 ms          |
          sure accepted: {"sure":true}            |
          ship done                               |
          completed: "On its way, paid by ch_900" |

      Sagas that have begun go on from where they are, where that still fits: a question that is open is asked again as it is now, and what they come to from there on is what the code of today does. Where that is meant, record it anew. Where it is not, or those of version '1' shall end as they began, give the changed saga a version of its own and keep this one in \`previous\`."
    `);
  });

  it('[R3] shows a renamed invoke', async () => {
    expect(await partsAt({ question: 'agreed' })).toContain(
      '> asks sure: Ship it? (4111)              | asks agreed: Ship it? (4111)',
    );
  });

  it('shows an effect that is not run any more', async () => {
    expect(await partsAt({ ships: false })).toContain(
      '> ship done                               | completed: "On its way, paid by ch_900"',
    );
  });

  it('shows an effect that was not run before', async () => {
    expect(await partsAt({ mails: true })).toContain('> completed: "On its way, paid by ch_900" | runs mail');
  });

  it('shows a guard that decides otherwise', async () => {
    expect(await partsAt({ asksFrom: 1_000 })).toContain(
      '> asks sure: Ship it? (4111)              | runs ship',
    );
    expect(await partsAt({ asksFrom: 1 }, script(shipping, { ...input, cents: 100 }))).toMatch(
      /> ship done {2,}\| asks sure: Ship it\? \(4111\)\n/,
    );
  });

  it('shows a delay that was changed, be it that it did not pass', async () => {
    expect(await partsAt({ patience: 60_000 })).toContain(
      '> waits, at the latest 600000 ms          | waits, at the latest 60000 ms',
    );
  });

  it('shows what an effect is given', async () => {
    expect(await partsAt({ fee: 5 })).toMatch(
      /> charge done, input\.cents: 900 {2,}\| charge done, input\.cents: 905\n/,
    );
  });

  it('shows a form that asks for something else', async () => {
    expect(await partsAt({ field: z.string() })).toMatch(
      /sure\.type: "boolean" +\| +params\.\S+\.sure\.type: "string"\n/,
    );
  });

  it('shows arguments that are not taken any more', async () => {
    expect(await partsAt({ input: z.object({ cents: z.string() }) })).toContain(
      "no longer takes the arguments that the recording of 'shipping' begins with",
    );
  });

  it('shows another end, where ends matter', async () => {
    expect(await partsAt({ says: 'Sent' })).toContain(
      '> completed: "On its way, paid by ch_900" | completed: "Sent, paid by ch_900"',
    );
    const { recording } = await shipped.run();
    await replayRecording(recording, [shippingOf({ says: 'Sent' })], { ends: 'ignore' });
  });

  it('shows an answer that is not taken any more', async () => {
    expect(await partsAt({ field: z.boolean().refine((sure) => !sure) })).toMatch(
      /> sure accepted: \{"sure":true\} +\| sure accepted: \{"sure":true\}, not used: invalid\n/,
    );
  });

  it('shows more in a turn than there was, and a promise that was an effect', async () => {
    const { recording } = await shipped.run();
    const happened = recording.happened.filter(({ outcome }) => outcome !== 'waits');
    await expect(replayRecording({ ...recording, happened }, [shipping])).rejects.toThrow(
      /> \(nothing more in this turn\) +\| waits, at the latest 600000 ms\n/,
    );
    const [quote, ...rest] = recording.happened;
    await expect(
      replayRecording({ ...recording, happened: [{ ...quote, kind: 'step' }, ...rest] }, [shipping]),
    ).rejects.toThrow(/> quote done, as step +\| quote done, as promise\n/);
  });

  it('shows what is waited for and never ended then', async () => {
    const { recording } = await shipped.run();
    const happened = recording.happened.map((event) =>
      event.id === 'ship' ? { ...event, outcome: 'not ended' } : event,
    );
    await expect(replayRecording({ ...recording, happened }, [shipping])).rejects.toThrow(
      /> ship not ended +\| waits for ship, which had not ended\n/,
    );
  });

  it('does not wait for ever for what checks an answer', async () => {
    const never = z.boolean().refine(() => new Promise<boolean>(() => undefined));
    expect(await partsAt({ field: never })).toMatch(/> ship done +\| does not come to an end\n/);
  });

  it('[R5] lets a version of its own pass, and not a version that is gone', async () => {
    const run = await shipped.run();
    await replayed(run, shippingOf({ version: '2', ships: false, previous: [shipping] }));
    await expect(replayed(run, shippingOf({ version: '2' }))).rejects.toThrow("served are '2'");
  });

  it('says that a saga was no machine when it was recorded', async () => {
    const { recording } = await testSaga(parcel).on.elicit('sure', { sure: true }).run();
    await expect(replayRecording({ ...recording, saga: 'shipping' }, [shipping])).rejects.toThrow(
      'recorded as a generator',
    );
  });

  it('is a test for each file, of machines and generators alike', async () => {
    await (await shipped.run()).save(join(folder, 'gate/machine.json'));
    await (
      await testSaga(parcel).on.elicit('sure', { sure: true }).run()
    ).save(join(folder, 'gate/parcel.json'));
    const all = replayRecordings(join(folder, 'gate/*.json'), { sagas: [parcel, shipping] });
    expect(all).toHaveLength(2);
    await Promise.all(all.map(({ replay }) => replay()));
  });
});
