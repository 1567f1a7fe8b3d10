import {
  createSagaHost,
  generateKey,
  memoryStore,
  type SagaHost,
  type SuspendedTurn,
} from '@mcp-saga/server';
import {
  joinRecording,
  recordSagas,
  replayRecording,
  type RecordedTurn,
  type Recording,
  type Redact,
} from '@mcp-saga/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { order } from './sagas/order.ts';
import { shop } from './sagas/shop.ts';

const accept = [{ stepId: 'sure', result: { action: 'accept', content: { sure: true } } }] as const;

function recordingHost(
  redact: Redact,
  onTurn?: () => never,
): { readonly fresh: () => SagaHost; readonly kept: Recording[]; readonly errors: unknown[] } {
  const kept: Recording[] = [];
  const errors: unknown[] = [];
  const keys = generateKey();
  const guard = memoryStore();
  const fresh = (): SagaHost =>
    createSagaHost({
      sagas: recordSagas([order], {
        onTurn: onTurn ?? ((turn) => kept.push(joinRecording([turn]))),
        redact,
        onError: (error) => errors.push(error),
      }),
      keys,
      name: 'shop',
      store: guard,
      hooks: { onTurn: () => undefined },
    });
  return { fresh, kept, errors };
}

/** Runs each turn on a new host. */
async function seen(
  fresh: () => SagaHost,
): Promise<{ readonly tokens: readonly string[]; readonly end: unknown }> {
  const one = (await fresh().start('order', { cents: 900 })) as SuspendedTurn;
  const two = (await fresh().resume(one.token)) as SuspendedTurn;
  return { tokens: [one.token, two.token], end: await fresh().resume(two.token, accept) };
}

describe('recorded sagas of a real host', () => {
  beforeEach(() => shop.reset());

  it('contain the whole saga at its end, from the last journal', async () => {
    const { fresh, kept } = recordingHost((value) => value);
    const { tokens, end } = await seen(fresh);
    expect(end).toMatchObject({ result: 'On its way' });
    expect(kept).toHaveLength(1);
    expect(kept[0]).toMatchObject({
      saga: 'order',
      input: { cents: 900 },
      happened: [
        { id: 'charge' },
        { id: 'sure' },
        { id: 'ship' },
        { id: 'shipped' },
        { id: 'thank' },
      ],
      end: { status: 'completed', result: 'On its way' },
    });
    const text = JSON.stringify(kept);
    for (const token of tokens) expect(text).not.toContain(token);
    await replayRecording(JSON.parse(text).at(0), [order]);
  });

  it('contain no redacted value of a saga, and replay if the shape is the same', async () => {
    const { fresh, kept } = recordingHost((value, { kind, id }) =>
      kind === 'input' ? { cents: 1 } : id === 'charge' ? { id: 'payment' } : value,
    );
    await seen(fresh);
    const text = JSON.stringify(kept);
    expect(text).not.toContain('900');
    expect(text).not.toContain([...shop.charges.keys()][0]);
    await replayRecording(kept[0], [order]);
  });

  it('are rejected with the field of their journal that is invalid', async () => {
    const turns: RecordedTurn[] = [];
    const { fresh } = recordingHost((value) => value, ((turn: RecordedTurn) =>
      turns.push(turn)) as never);
    await seen(fresh);
    const [turn] = turns as [RecordedTurn];
    const happened = turn.happened.map(({ kind, id, outcome }) => ({ kind, id, outcome }));
    expect(() => joinRecording([{ ...turn, happened }])).toThrow(
      'happened[0].letter must be of type string',
    );
  });

  it.each<[string, Redact, (() => never) | undefined]>([
    [
      'redact',
      () => {
        throw new Error('oops');
      },
      undefined,
    ],
    [
      'onTurn',
      (value) => value,
      () => {
        throw new Error('oops');
      },
    ],
  ])('continue if %s throws', async (_, redact, onTurn) => {
    const { fresh, errors } = recordingHost(redact, onTurn);
    expect((await seen(fresh)).end).toMatchObject({ status: 'completed' });
    expect(errors).toMatchObject([{ message: 'oops' }]);
  });
});
