/** Sagas whose branches note when their `finally` blocks run. */
import { expect } from 'vitest';
import { step } from '../../src/index.ts';
import type { Command, Steps } from '../../src/model/command.ts';
import type { Program } from '../../src/model/program.ts';
import type { Route } from '../../src/model/question.ts';
import { accepted, drive, type Drive } from './drive.ts';
import { sagaOf } from './sagas.ts';
import { World, type RuntimeMembers } from './world.ts';

/** Notes something. */
export type Note = (text: string) => void;
/** A body that records notes. */
export type Body = (note: Note, world: World) => Steps<string>;

/** What an instance noted, by turn: the last one has replayed all that came before it. */
export interface Noted extends Drive {
  readonly notes: readonly (readonly string[])[];
}

/** Samples at the host, and answers questions by their fallbacks. */
const elsewhere = (world: World): RuntimeMembers => ({
  route: ({ need, hasFallback }): Route => {
    if (need === 'sampling') return 'host';
    return hasFallback ? 'fallback' : 'ask';
  },
  sample: async (_, context) => {
    await untilTold(world)(context);
    return { role: 'assistant', content: { type: 'text', text: 't' }, model: 'host' };
  },
});

/** Makes instances of a saga, with separate notes for each instance. */
export function noting(
  body: Body,
  world: World,
): { readonly make: () => Program; readonly notes: string[][] } {
  const notes: string[][] = [];
  const make = (): Program => {
    const own: string[] = [];
    notes.push(own);
    return sagaOf(() => body((text) => void own.push(text), world), { reuse: 'ok' });
  };
  return { make, notes };
}

/** Runs a saga whose branches record notes, each turn on a new instance. */
export async function noted(body: Body, commitsEach = false): Promise<Noted> {
  const world = new World();
  const { make, notes } = noting(body, world);
  const driven = await drive({
    make,
    world,
    answer: ({ stepId }) => (stepId === 'end' ? accepted({ word: 'w' }) : undefined),
    settings: () => ({ replace: { ...elsewhere(world), commitsEach } }),
  });
  // The first instance was made for its arguments alone.
  return { ...driven, notes: notes.slice(1) };
}

/**
 * Asserts that the notes of each instance begin with those of the previous one, which ran a part
 * live.
 */
export function assertSame({ notes }: Noted): void {
  expect(notes.length).toBeGreaterThan(1);
  for (const [index, own] of notes.entries()) {
    const before = notes[index - 1] ?? [];
    expect(own.slice(0, before.length)).toEqual(before);
  }
}

/** A branch that notes when its `finally` runs. */
export type Branch = (note: Note, name: string, command: Command<unknown>) => Steps<void>;

/** Notes when its `finally` runs. */
export const noteOnly: Branch = function* (note, name, command) {
  try {
    yield* command;
  } finally {
    note(name);
  }
};

/** Notes when its `finally` runs, and again after a step of it. */
export const withStep: Branch = function* (note, name, command) {
  try {
    yield* command;
  } finally {
    note(name);
    yield* step('leave', () => 1);
    note(`${name} has left`);
  }
};

type Told = { readonly signal: AbortSignal };

/** Runs until its signal is aborted. */
export function untilTold(world: World): (context: Told) => Promise<undefined> {
  return async ({ signal }) => {
    await world.sleep(1_000, signal);
    return undefined;
  };
}
