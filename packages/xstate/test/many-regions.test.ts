import { elicit, machineSaga } from '@mcp-saga/xstate';
import { describe, expect, it, vi } from 'vitest';
import { Actor, setup, StateNode, type AnyStateMachine } from 'xstate';
import { z } from 'zod';
import { accept, Drive } from './support/drive.ts';

/** Work of a turn, in calls. */
interface Work {
  /** Reads of the invokes of a state. */
  readonly states: number;
  /** Looks at the snapshot of an actor. */
  readonly actors: number;
  /** Objects whose properties are listed. */
  readonly objects: number;
  /** Values that are parsed or written as JSON. */
  readonly texts: number;
}

/**
 * Counts the work of a turn of a machine with this number of parallel regions, each with a
 * question.
 */
async function workOf(regions: number): Promise<Work> {
  const ask = elicit({ message: 'Well?', schema: z.object({ n: z.number() }) });
  const parts = Array.from({ length: regions }, (_, index) => [
    `r${index}`,
    {
      initial: 'a',
      states: { a: { invoke: { id: `ask${index}`, src: 'ask', onDone: 'b' } }, b: {} },
    },
  ]);
  const machine = setup({ actors: { ask } }).createMachine({
    type: 'parallel',
    states: Object.fromEntries(parts),
  } as never) as unknown as AnyStateMachine;
  const drive = new Drive(machineSaga({ name: 'm', version: '1' }, machine));
  await drive.start();
  const counted = {
    states: vi.spyOn(StateNode.prototype, 'invoke', 'get'),
    actors: vi.spyOn(Actor.prototype, 'getSnapshot'),
    objects: vi.spyOn(Object, 'entries'),
    texts: vi.spyOn(JSON, 'stringify'),
  };
  try {
    await drive.resume({ ask0: accept({ n: 1 }) });
    expect(drive.asked).toHaveLength(regions - 1);
    const { states, actors, objects, texts } = counted;
    const [inStates, inActors, inObjects, inTexts] = [states, actors, objects, texts].map(
      ({ mock }) => mock.calls.length,
    ) as [number, number, number, number];
    return { states: inStates, actors: inActors, objects: inObjects, texts: inTexts };
  } finally {
    vi.restoreAllMocks();
  }
}

/** Counts how often a machine writes its questions when a client answers all of them at once. */
async function messagesOf(questions: number): Promise<number> {
  let written = 0;
  const message = (): string => {
    written += 1;
    return 'Well?';
  };
  const names = Array.from({ length: questions }, (_, index) => `ask${index}`);
  const parts = names.map((id) => [
    id,
    {
      initial: 'a',
      states: { a: { invoke: { id, src: 'ask', onDone: 'b' } }, b: { type: 'final' } },
    },
  ]);
  const machine = setup({
    actors: { ask: elicit({ message, schema: z.object({ n: z.number() }) }) },
  }).createMachine({
    type: 'parallel',
    states: Object.fromEntries(parts),
    output: 'done',
  } as never) as unknown as AnyStateMachine;
  const drive = new Drive(machineSaga({ name: 'm', version: '1' }, machine));
  await drive.start();
  written = 0;
  const answers = Object.fromEntries(names.map((id) => [id, accept({ n: 1 })]));
  const outcome = await drive.resume(answers, { replace: { room: async () => 100_000 } });
  expect(outcome.status).toBe('completed');
  return written;
}

describe('a machine with many parallel regions', () => {
  it('[R1] writes each question as often for many answers as for few', async () => {
    expect((await messagesOf(40)) / 40).toBe((await messagesOf(10)) / 10);
  });

  it.each(['states', 'actors', 'objects', 'texts'] as const)(
    '[R1] needs the same work for each region in a turn, in %s',
    async (kind) => {
      const [few, more, many] = [await workOf(10), await workOf(20), await workOf(40)];
      // What a machine finds once for all turns does not grow with its regions at all.
      expect(more[kind]).toBeGreaterThanOrEqual(few[kind]);
      expect(few[kind]).toBeGreaterThan(0);
      expect(many[kind] - more[kind]).toBe(2 * (more[kind] - few[kind]));
    },
  );
});
