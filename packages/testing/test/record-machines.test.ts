import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSagaHost,
  generateKey,
  memoryGuard,
  type Program,
  type SagaHost,
  type SagaHostOptions,
  type SagaTurn,
  type SuspendedTurn,
} from '@mcp-saga/server';
import {
  joinRecording,
  recordSagas,
  replayRecording,
  type RecordedTurn,
  type RecordSagasOptions,
  type Redact,
  type TurnsRecording,
} from '@mcp-saga/testing';
import { replayRecordings } from '@mcp-saga/testing/node';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { acts, cancelOrder, desk, waiting } from './sagas/desk.ts';
import { order } from './sagas/order.ts';
import { waiterOf } from './sagas/waiter.ts';
import { done, shipping, shippingOf } from './sagas/shipping.ts';
import type { DialectTraits } from '../../server/src/model/dialect-traits.ts';
import { coreOf } from '../../server/src/saga-host.ts';

const folder = mkdtempSync(join(tmpdir(), 'turns-'));
afterAll(() => rmSync(folder, { recursive: true }));

const noon = Date.UTC(2030, 0, 15, 12);
const accepts = (stepId: string, content: object) =>
  [{ stepId, result: { action: 'accept', content } }] as never;

/** Hosts that share a key, and somebody who keeps what they record. */
class Fleet {
  readonly kept: RecordedTurn[] = [];
  readonly errors: unknown[] = [];
  sagas: readonly Program[] = [shipping, desk];
  time = noon;
  readonly #keys = generateKey();
  readonly #guard = memoryGuard({ clock: () => this.time });
  readonly #recording: Partial<RecordSagasOptions>;
  readonly #options: Partial<SagaHostOptions>;

  constructor(recording: Partial<RecordSagasOptions> = {}, options: Partial<SagaHostOptions> = {}) {
    this.#recording = recording;
    this.#options = options;
  }

  /** A host that knows nothing of the ones before. */
  get fresh(): SagaHost {
    return createSagaHost({
      sagas: recordSagas(this.sagas, {
        onRecording: () => undefined,
        onTurn: (turn) => this.kept.push(JSON.parse(JSON.stringify(turn)) as RecordedTurn),
        redact: (value) => value,
        onError: (error) => this.errors.push(error),
        ...this.#recording,
      }),
      ...this.#options,
      keys: this.#keys,
      audience: 'shop',
      guard: { store: this.#guard },
      compensators: [cancelOrder],
      testing: { clock: () => this.time, ...this.#options.testing },
      hooks: { onTurn: () => undefined, onWarning: () => undefined },
    });
  }

  async start(saga: string, args: object, traits: DialectTraits = {}): Promise<SuspendedTurn> {
    return suspended(await coreOf(this.fresh).start(saga, args, {}, { traits }));
  }

  /** Replays what was kept, on other processes of the same code. */
  async replay(): Promise<TurnsRecording> {
    const recording = joinRecording(this.kept);
    await replayRecording(recording, this.sagas);
    return recording;
  }
}

function suspended(turn: SagaTurn): SuspendedTurn {
  if (turn.status !== 'suspended') throw new Error(`It is ${turn.status}.`, { cause: turn });
  return turn;
}

const input = { cents: 900, card: '4111' };

describe('machines of a real host that are recorded', () => {
  beforeEach(() => {
    done.length = 0;
    acts.length = 0;
    waiting.clear();
  });

  it('[R3] [P2] give each turn to whoever keeps them, from whichever process, and all of them make a recording', async () => {
    const fleet = new Fleet();
    const { token } = await fleet.start('shipping', input);
    expect(await fleet.fresh.resume(token, accepts('sure', { sure: true }))).toMatchObject({
      result: 'On its way, paid by ch_900',
    });
    expect(fleet.kept).toMatchObject([
      { kind: 'turn', saga: 'shipping', turn: 1, input },
      { kind: 'turn', turn: 2, end: { status: 'completed' } },
    ]);
    const text = JSON.stringify(fleet.kept);
    expect(text).not.toContain(token);
    done.length = 0;
    const recording = joinRecording(fleet.kept.toReversed());
    expect(recording.happened.map(({ turn, id, outcome }) => `${turn} ${id} ${outcome}`)).toEqual([
      '1 quote done',
      '1 charge done',
      '1 sure asked',
      '1  waits',
      '2 sure accepted',
      '2 ship done',
    ]);
    await replayRecording(recording, [shipping]);
    const file = join(folder, 'turns.jsonl');
    writeFileSync(file, fleet.kept.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
    await Promise.all(replayRecordings(file, { sagas: [shipping] }).map(({ replay }) => replay()));
    await expect(replayRecording(fleet.kept, [shippingOf({ ships: false })])).rejects.toThrow('ship done');
    expect(done).toEqual([]);
  });

  it('tell of an answer that came when its time was over', async () => {
    const fleet = new Fleet();
    const { token } = await fleet.start('shipping', input);
    fleet.time += 630_001;
    const end = await fleet.fresh.resume(token, accepts('sure', { sure: true }));
    expect(end).toMatchObject({ status: 'failed', compensated: [{ stepId: 'charge' }] });
    const recording = joinRecording(fleet.kept);
    expect(recording.happened).toContainEqual(
      expect.objectContaining({ turn: 2, id: 'sure', outcome: 'accepted', reason: 'unknown' }),
    );
    await replayRecording(recording, [shipping]);
    await expect(replayRecording(recording, [shippingOf({ patience: 600_001 })])).rejects.toThrow('600001');
  });

  it('tell of the turns that led to the end, where some were repeated or taken from an older token', async () => {
    const fleet = new Fleet();
    const { token } = await fleet.start('shipping', input);
    await fleet.start('shipping', { cents: 700, card: '5500' });
    const again = suspended(await fleet.fresh.resume(token, accepts('sure', { sure: 'perhaps' })));
    fleet.time += 1_000;
    await fleet.fresh.resume(again.token, accepts('sure', { sure: true }));
    fleet.time += 1_000;
    await fleet.fresh.resume(token, accepts('sure', { sure: false }));
    expect(fleet.kept).toHaveLength(5);
    const recording = joinRecording(fleet.kept);
    expect(recording).toMatchObject({ turns: [{}, {}], end: { status: 'failed' } });
    await replayRecording(recording, [shipping]);
    const shipped = joinRecording(fleet.kept.slice(0, 4));
    expect(shipped).toMatchObject({ turns: [{}, {}, {}], end: { status: 'completed' } });
    await replayRecording(shipped, [shipping]);
  });

  it('make no recording before they end, or where a turn is missing', async () => {
    const fleet = new Fleet();
    const { token } = await fleet.start('shipping', input);
    expect(() => joinRecording(fleet.kept)).toThrow('None of these turns ends the saga');
    await fleet.fresh.resume(token, accepts('sure', { sure: true }));
    const missing = "The turn before turn 2 of 'shipping'";
    const [first, last] = fleet.kept as [RecordedTurn, RecordedTurn];
    expect(() => joinRecording([last])).toThrow(missing);
    expect(() =>
      joinRecording([
        { ...first, from: 'itself', to: 'itself' },
        { ...last, from: 'itself' },
      ]),
    ).toThrow("The turn before turn 1 of 'shipping'");
    const earlier = { ...first, input: {}, time: '2029-12-31T00:00:00.000Z' };
    expect(joinRecording([earlier, first, last])).toMatchObject({ input });
  });

  it('tell who cancelled them, and replay it', async () => {
    const fleet = new Fleet();
    const { token } = await fleet.start('shipping', input);
    await fleet.fresh.cancel(token, { reason: 'too late' });
    const recording = joinRecording(fleet.kept);
    expect(recording.end).toMatchObject({ error: { message: 'The call was cancelled: too late' } });
    await replayRecording(recording, [shipping]);
  });

  it('tell what came first of what ended at one time, who answered in the stead of a client, and what was undone', async () => {
    const said = { role: 'assistant', model: 'm', content: { type: 'text', text: 'a line' } } as const;
    const fleet = new Fleet(
      {},
      {
        answers: {
          order: { elicitation: ['fallback', 'client'], sampling: ['host'] },
          sampling: () => {
            acts.push('sampled');
            return said;
          },
        },
      },
    );
    const starting = fleet.fresh.start('desk', {});
    while (waiting.size < 2) await new Promise((resolve) => setImmediate(resolve));
    waiting.get('right')?.();
    await new Promise((resolve) => setImmediate(resolve));
    waiting.get('left')?.();
    const { token } = suspended(await starting);
    const model = { provenance: 'model' } as const;
    const refused = await coreOf(fleet.fresh)
      .resume(token, accepts('agree', { yes: true }), {}, model)
      .then(suspended);
    const end = await fleet.fresh.resume(refused.token, accepts('agree', { yes: false }));
    expect(end).toMatchObject({ status: 'failed', compensated: [{ stepId: 'book' }] });
    expect(acts).toEqual(['left', 'right', 'fallback', 'sampled', 'book', 'cancel o1']);
    acts.length = 0;
    const recording = joinRecording(fleet.kept);
    expect(recording.happened.slice(0, 5)).toMatchObject([
      { id: 'right', kind: 'step' },
      { id: 'left', kind: 'step' },
      { id: 'payer', kind: 'fallback', value: { name: 'the house' } },
      { id: 'text', kind: 'sample', value: said },
      { id: 'book', kind: 'step' },
    ]);
    expect(recording.happened).toContainEqual(
      expect.objectContaining({ id: 'agree', reason: 'not accepted', by: 'model' }),
    );
    await replayRecording(recording, [desk]);
    expect(acts).toEqual([]);
  });

  it.each<[string, DialectTraits]>([
    ['hands out a token after each step', { checkpointAfterStep: true }],
    ['only looks how far they are, every other time', { runs: false }],
    ['leaves what there is to run for later, every other time', { defersEffects: true }],
  ])('replay as they were served, by one that %s', async (_, traits) => {
    const fleet = new Fleet();
    fleet.sagas = [shippingOf({ mails: true })];
    let turn: SagaTurn = await fleet.start('shipping', input, traits);
    for (let looks = false; turn.status === 'suspended'; looks = !looks) {
      const [question] = turn.steps;
      const answers = question === undefined ? [] : accepts(question.stepId, { sure: true });
      turn = await coreOf(fleet.fresh).resume(
        turn.token,
        answers,
        {},
        traits.checkpointAfterStep !== true && !looks ? {} : { traits },
      );
    }
    expect(turn).toMatchObject({ status: 'completed' });
    const { turns } = await fleet.replay();
    expect(turns.length).toBeGreaterThan(2);
    const facts = traits.runs === false ? { budget: 'over' } : traits;
    expect(turns.map(({ host }) => host)).toContainEqual(expect.objectContaining(facts));
  });

  it('replay what was undone in the turn after the one that came to it, where their tokens are used once', async () => {
    const fleet = new Fleet();
    fleet.sagas = [shippingOf({ forks: 'refuse' })];
    const { token } = await fleet.start('shipping', input);
    const end = await fleet.fresh.resume(token, accepts('sure', { sure: false }));
    expect(end).toMatchObject({ status: 'failed', compensated: [{ stepId: 'charge' }] });
    const { turns, happened } = await fleet.replay();
    expect(turns.map(({ host: { checkpointBeforeUndo } }) => checkpointBeforeUndo)).toEqual([
      undefined,
      true,
      true,
    ]);
    expect(happened.filter(({ turn }) => turn === 3)).toMatchObject([{ id: '~charge', outcome: 'done' }]);
  });

  it.each<[string, DialectTraits, object]>([
    ['cannot be kept waiting', { maxWait: () => 5_000 }, { status: 'failed' }],
    ['are held in parts', { holdsParts: true }, { status: 'suspended', retryAfterMs: 80_000 }],
  ])('replay as they waited, where clients %s', async (_, traits, turn) => {
    const sleep = async (ms: number): Promise<void> => {
      fleet.time += ms;
    };
    const fleet = new Fleet({}, { testing: { sleep } });
    fleet.sagas = [waiterOf(100_000, 5_000)];
    const first = await coreOf(fleet.fresh).start('waiter', {}, {}, { traits });
    expect(first).toMatchObject(turn);
    fleet.time += 80_000;
    if (first.status === 'suspended') await fleet.fresh.resume(first.token);
    await fleet.replay();
  });

  it('replay as their clock went, be it that it went on with each look', async () => {
    const fleet = new Fleet({}, { testing: { clock: () => (fleet.time += 7) } });
    const { token } = await fleet.start('shipping', input);
    fleet.time += 599_990;
    await fleet.fresh.resume(token, accepts('sure', { sure: true }));
    await fleet.replay();
  });

  it('tell what was begun before, and is not begun again', async () => {
    const fleet = new Fleet();
    fleet.sagas = [shippingOf({ once: true })];
    const { token } = await fleet.start('shipping', input);
    await fleet.fresh.resume(token, accepts('sure', { sure: true }));
    fleet.time += 1;
    expect(await fleet.fresh.resume(token, accepts('sure', { sure: true }))).toMatchObject({
      status: 'failed',
    });
    expect(await fleet.replay()).toMatchObject({ end: { compensated: ['charge'], residue: [] } });
  });

  it('tell whose answer did not count', async () => {
    const fleet = new Fleet();
    const { token } = await fleet.start('shipping', input);
    const asked = await coreOf(fleet.fresh).resume(
      token,
      accepts('sure', { sure: false }),
      {},
      { provenance: 'model' },
    );
    await fleet.fresh.resume(suspended(asked).token, accepts('sure', { sure: true }));
    expect(await fleet.replay()).toMatchObject({
      turns: [{}, { host: { refused: ['model elicitation'] } }, {}],
    });
  });

  it('replay where what checks an answer takes its time', async () => {
    const slow = z.boolean().refine(async () => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return true;
    });
    const fleet = new Fleet();
    fleet.sagas = [shippingOf({ field: slow })];
    const { token } = await fleet.start('shipping', input);
    await fleet.fresh.resume(token, accepts('sure', { sure: true }));
    await fleet.replay();
  });

  it('keep nothing that was redacted, and still replay where the shape was kept', async () => {
    const redact: Redact = (value, { kind, id, part }) => {
      if (kind === 'input') return { ...(value as typeof input), card: 'xxxx' };
      if (id === 'charge') return part === 'given' ? null : { id: 'payment' };
      if (id === 'sure' && part === 'given') return { message: 'asked', requestedSchema: {} };
      return kind === 'result' || kind === 'error' ? 'kept from you' : value;
    };
    const fleet = new Fleet({ redact });
    const { token } = await fleet.start('shipping', input);
    await fleet.fresh.resume(token, accepts('sure', { sure: true }));
    expect(fleet.errors).toEqual([]);
    const text = JSON.stringify(fleet.kept);
    expect(text).not.toContain('4111');
    expect(text).not.toContain('ch_900');
    const recording = joinRecording(fleet.kept);
    await replayRecording(recording, [shipping]);
    // What was redacted is not compared: that it is asked is.
    await replayRecording(recording, [shippingOf({ message: 'Well?', says: 'Sent' })]);
    await expect(replayRecording(recording, [shippingOf({ question: 'well' })])).rejects.toThrow('asks well');
  });

  it('name what they left behind by nothing that could be found out by trying', async () => {
    const fleets = [new Fleet(), new Fleet()];
    for (const fleet of fleets) await fleet.start('shipping', input);
    const [one, other] = fleets.map(({ kept }) => kept[0]);
    expect(one?.to).toMatch(/^[\w-]{43}$/);
    expect(one?.to).not.toBe(other?.to);
    expect({ ...one, to: '' }).toEqual({ ...other, to: '' });
  });

  it.each<[string, Partial<RecordSagasOptions>]>([
    ['redact', { redact: () => fails() }],
    ['onTurn', { onTurn: () => fails() }],
  ])('go on when %s throws', async (_, recording) => {
    const fleet = new Fleet(recording);
    const { token } = await fleet.start('shipping', input);
    expect(await fleet.fresh.resume(token, accepts('sure', { sure: true }))).toMatchObject({
      status: 'completed',
    });
    expect(fleet.errors).toMatchObject([{ message: 'oops' }, { message: 'oops' }]);
  });

  it('need somebody who keeps their turns', () => {
    const options = { onRecording: () => undefined, redact: () => null };
    expect(() => recordSagas([order, shipping], options)).toThrow("'shipping' is a saga of a machine");
    expect(recordSagas([order], options)).toHaveLength(1);
  });
});

function fails(): never {
  throw new Error('oops');
}
