import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSagaHost,
  generateKey,
  memoryStore,
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
  type Recording,
} from '@mcp-saga/testing';
import { replayRecordings } from '@mcp-saga/testing/node';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { acts, cancelOrder, desk, waiting } from './sagas/desk.ts';
import { waiterOf } from './sagas/waiter.ts';
import { done, shipping, shippingOf } from './sagas/shipping.ts';
import type { DialectCapabilities } from '../../server/src/model/dialect-capabilities.ts';
import type { ResumeRequest } from '../../server/src/model/request-types.ts';
import { coreOf } from '../../server/src/saga-host.ts';

const folder = mkdtempSync(join(tmpdir(), 'turns-'));
afterAll(() => rmSync(folder, { recursive: true }));

const noon = Date.UTC(2030, 0, 15, 12);
const accepts = (stepId: string, content: object) =>
  [{ stepId, result: { action: 'accept', content } }] as never;

/** Hosts with one key, and the store of their recordings. */
class Fleet {
  readonly kept: RecordedTurn[] = [];
  readonly errors: unknown[] = [];
  sagas: readonly Program[] = [shipping, desk];
  time = noon;
  readonly #keys = generateKey();
  readonly #guard = memoryStore({ clock: () => this.time });
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
        onTurn: (turn) => this.kept.push(JSON.parse(JSON.stringify(turn)) as RecordedTurn),
        redact: (value) => value,
        onError: (error) => this.errors.push(error),
        ...this.#recording,
      }),
      ...this.#options,
      keys: this.#keys,
      name: 'shop',
      store: this.#guard,
      compensators: [cancelOrder],
      testing: { clock: () => this.time, ...this.#options.testing },
      hooks: { onTurn: () => undefined, onWarning: () => undefined },
    });
  }

  async start(
    saga: string,
    args: object,
    dialect: DialectCapabilities = {},
  ): Promise<SuspendedTurn> {
    return suspended(await coreOf(this.fresh).start(saga, args, {}, { dialect }));
  }

  /** Replays the stored recording on other processes with the same code. */
  async replay(): Promise<Recording> {
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

describe('recorded machines of a real host', () => {
  beforeEach(() => {
    done.length = 0;
    acts.length = 0;
    waiting.clear();
  });

  it('[R3] [P2] report each turn from any process, and the turns join into a recording', async () => {
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
    await expect(replayRecording(fleet.kept, [shippingOf({ ships: false })])).rejects.toThrow(
      'ship done',
    );
    expect(done).toEqual([]);
  });

  it('contain an answer that arrived after the deadline', async () => {
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
    await expect(replayRecording(recording, [shippingOf({ patience: 600_001 })])).rejects.toThrow(
      '600001',
    );
  });

  it('contain the turns before the end, without repeated and forked turns', async () => {
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

  it('cannot be joined before the end, or with a missing turn', async () => {
    const fleet = new Fleet();
    const { token } = await fleet.start('shipping', input);
    expect(() => joinRecording(fleet.kept)).toThrow('none of these turns ends the saga');
    await fleet.fresh.resume(token, accepts('sure', { sure: true }));
    const missing = "the turn before turn 2 of 'shipping' is missing";
    const [first, last] = fleet.kept as [RecordedTurn, RecordedTurn];
    expect(() => joinRecording([last])).toThrow(missing);
    expect(() =>
      joinRecording([
        { ...first, from: 'itself', to: 'itself' },
        { ...last, from: 'itself' },
      ]),
    ).toThrow("the turn before turn 1 of 'shipping' is missing");
    const earlier = { ...first, input: {}, time: '2029-12-31T00:00:00.000Z' };
    expect(joinRecording([earlier, first, last])).toMatchObject({ input });
  });

  it('contain the reason of a cancellation, and replay', async () => {
    const fleet = new Fleet();
    const { token } = await fleet.start('shipping', input);
    await fleet.fresh.cancel(token, { reason: 'too late' });
    const recording = joinRecording(fleet.kept);
    expect(recording.end).toMatchObject({ error: { message: 'The call was cancelled: too late' } });
    await replayRecording(recording, [shipping]);
  });

  it('contain the order of simultaneous ends, stand-in answers, and undos', async () => {
    const said = {
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: 'a line' },
    } as const;
    const fleet = new Fleet(
      {},
      {
        answerers: {
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

  it.each<[string, Pick<ResumeRequest, 'dialect' | 'holder'>, object]>([
    [
      'only reads the state in every other turn',
      { dialect: { effects: 'never' } },
      { budget: 'over' },
    ],
    [
      'defers effects in every other turn',
      { dialect: { effects: 'later' } },
      { defersEffects: 'all' },
    ],
    [
      'ends a turn after each step of a task',
      { holder: { kind: 'store' } },
      { checkpointAfterStep: true },
    ],
  ])('replay if the dialect %s', async (_, request, facts) => {
    const fleet = new Fleet();
    fleet.sagas = [shippingOf({ mails: true })];
    const isTask = request.holder !== undefined;
    let turn: SagaTurn = await fleet.start('shipping', input, request.dialect);
    for (let looks = false; turn.status === 'suspended'; looks = !looks) {
      const [question] = turn.steps;
      const answers = question === undefined ? [] : accepts(question.stepId, { sure: true });
      turn = await coreOf(fleet.fresh).resume(
        turn.token,
        answers,
        {},
        isTask || looks ? request : {},
      );
    }
    expect(turn).toMatchObject({ status: 'completed' });
    const { turns = [] } = await fleet.replay();
    expect(turns.length).toBeGreaterThan(2);
    expect(turns.map(({ host }) => host)).toContainEqual(expect.objectContaining(facts));
  });

  it('replay an undo in the turn after the failure, if each token counts once', async () => {
    const fleet = new Fleet();
    fleet.sagas = [shippingOf({ reuse: undefined })];
    const { token } = await fleet.start('shipping', input);
    const end = await fleet.fresh.resume(token, accepts('sure', { sure: false }));
    expect(end).toMatchObject({ status: 'failed', compensated: [{ stepId: 'charge' }] });
    const { turns = [], happened } = await fleet.replay();
    expect(turns.map(({ host: { checkpointBeforeUndo } }) => checkpointBeforeUndo)).toEqual([
      undefined,
      true,
      true,
    ]);
    expect(happened.filter(({ turn }) => turn === 3)).toMatchObject([
      { id: '~charge', outcome: 'done' },
    ]);
  });

  it.each<[string, DialectCapabilities, object]>([
    ['cannot wait', { maxWait: () => 5_000 }, { status: 'failed' }],
    ['are held in parts', { holdsParts: true }, { status: 'suspended', retryAfterMs: 80_000 }],
  ])('replay their waits if clients %s', async (_, dialect, turn) => {
    const sleep = async (ms: number): Promise<void> => {
      fleet.time += ms;
    };
    const fleet = new Fleet({}, { testing: { sleep } });
    fleet.sagas = [waiterOf(100_000, 5_000)];
    const first = await coreOf(fleet.fresh).start('waiter', {}, {}, { dialect });
    expect(first).toMatchObject(turn);
    fleet.time += 80_000;
    if (first.status === 'suspended') await fleet.fresh.resume(first.token);
    await fleet.replay();
  });

  it('replay with the recorded times, even if each read of the clock advanced it', async () => {
    const fleet = new Fleet({}, { testing: { clock: () => (fleet.time += 7) } });
    const { token } = await fleet.start('shipping', input);
    fleet.time += 599_990;
    await fleet.fresh.resume(token, accepts('sure', { sure: true }));
    await fleet.replay();
  });

  it('contain effects of earlier turns that had not ended', async () => {
    const fleet = new Fleet();
    fleet.sagas = [shippingOf({ once: true })];
    const { token } = await fleet.start('shipping', input);
    await fleet.fresh.resume(token, accepts('sure', { sure: true }));
    fleet.time += 1;
    expect(await fleet.fresh.resume(token, accepts('sure', { sure: true }))).toMatchObject({
      status: 'failed',
    });
    expect(await fleet.replay()).toMatchObject({
      end: { compensated: ['charge'], uncompensated: [] },
    });
  });

  it('contain the provenance of refused answers', async () => {
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

  it('replay with a slow asynchronous schema', async () => {
    const slow = z.boolean().refine(async () => {
      for (let turn = 0; turn < 20; turn += 1)
        await new Promise((resolve) => setImmediate(resolve));
      return true;
    });
    const fleet = new Fleet();
    fleet.sagas = [shippingOf({ field: slow })];
    const { token } = await fleet.start('shipping', input);
    await fleet.fresh.resume(token, accepts('sure', { sure: true }));
    await fleet.replay();
  });

  it('contain no redacted value of a machine, and replay if the shape is the same', async () => {
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
    // A redacted text is not compared, but the question itself is.
    await replayRecording(recording, [shippingOf({ message: 'Well?', says: 'Sent' })]);
    await expect(replayRecording(recording, [shippingOf({ question: 'well' })])).rejects.toThrow(
      'asks well',
    );
  });

  it('contain state names as a keyed digest that cannot be guessed', async () => {
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
  ])('continue if %s throws', async (_, recording) => {
    const fleet = new Fleet(recording);
    const { token } = await fleet.start('shipping', input);
    expect(await fleet.fresh.resume(token, accepts('sure', { sure: true }))).toMatchObject({
      status: 'completed',
    });
    expect(fleet.errors).toMatchObject([{ message: 'oops' }, { message: 'oops' }]);
  });
});

function fails(): never {
  throw new Error('oops');
}
