import {
  abort,
  elicit,
  memoryStore,
  saga,
  sleep,
  step,
  type Program,
  type Steps,
} from '@mcp-saga/server';
import { testHost, type TestHost } from '@mcp-saga/testing';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { wireWays, type WireWay } from '../../../test/support/wire/ways.ts';
import { rawClient } from '../../../test/support/wire/wire-client.ts';
import { askingModels } from '../../../test/support/asking-models.ts';

const keyField = 'io.github.mcp-saga/idempotencyKey';
const Sure = z.object({ sure: z.boolean() });

/** A part of a saga: a step with an undo, one without, a question, or a wait. */
type Part = 'charge' | 'mail' | 'ask' | 'wait';

interface Case {
  readonly way: WireWay;
  readonly parts: readonly Part[];
  readonly fails: boolean;
  /** `none`: no store, and no undo. */
  readonly store: 'shared' | 'none';
  /** Chooses the request or the step behind which the connection breaks. */
  readonly at: number;
  readonly isStep: boolean;
  /** How often the response is lost. */
  readonly times: number;
}

const part: fc.Arbitrary<Part> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Part>('charge') },
  { weight: 2, arbitrary: fc.constant<Part>('mail') },
  { weight: 2, arbitrary: fc.constant<Part>('ask') },
  { weight: 1, arbitrary: fc.constant<Part>('wait') },
);

const anyCase: fc.Arbitrary<Case> = fc.record({
  way: fc.constantFrom(...wireWays),
  parts: fc.array(part, { minLength: 1, maxLength: 5 }),
  fails: fc.boolean(),
  store: fc.constantFrom<Case['store']>('shared', 'shared', 'shared', 'none'),
  at: fc.nat(),
  isStep: fc.boolean(),
  times: fc.integer({ min: 1, max: 3 }),
});

/** The response that makes a task of the second round is lost, and the task has gone on since. */
const lostTask: Case = {
  way: { dialect: 'tasks', era: '2026-07-28' },
  parts: ['ask', 'charge', 'ask', 'ask', 'ask'],
  fails: true,
  store: 'shared',
  at: 1,
  isStep: false,
  times: 1,
};

function sagaOf({ parts, fails, store, way }: Case): Program {
  const options = {
    name: 'order',
    version: '1',
    ...(way.dialect === 'tasks' ? { task: 'prefer' as const } : {}),
  };
  const undo = store === 'none' ? {} : { compensate: () => undefined };
  const charge = (id: string): Steps<unknown> =>
    step(id, ({ idempotencyKey }) => idempotencyKey.length, undo) as never;
  return saga(options, function* (): Steps<string> {
    for (const [index, kind] of parts.entries()) {
      const id = `${kind}-${index}`;
      if (kind === 'charge') yield* charge(id);
      else if (kind === 'mail') yield* step(id, ({ idempotencyKey }) => idempotencyKey.length);
      else if (kind === 'ask') yield* elicit(id, { message: `${id}?`, schema: Sure });
      else yield* sleep(1_500);
    }
    if (fails) yield* abort('Out of stock.');
    return 'Ordered.';
  });
}

interface Played {
  readonly text: string;
  readonly requests: number;
  /** Steps and undos, by ID: the number of keys, and the number of runs. */
  readonly effects: ReadonlyMap<string, { readonly keys: number; readonly runs: number }>;
}

/** Calls the saga, and calls it again by the same key while the call itself is lost. */
async function play(
  given: Case,
  key: string | undefined,
  cut: (host: TestHost) => void = () => undefined,
): Promise<Played> {
  const clock = { now: (): number => 0 };
  const host = testHost({
    sagas: askingModels([sagaOf(given)]),
    answerers: { model: 'accept' },
    ...(given.store === 'none'
      ? { store: false as const }
      : { store: memoryStore({ clock: () => clock.now() }) }),
  });
  clock.now = () => host.clock.now();
  cut(host);
  const answers = (): object => ({ sure: true });
  let requests = 0;
  for (let calls = 1; ; calls += 1) {
    const client = rawClient(host, { ...given.way, answers: answers as never, user: 'ann' });
    try {
      const meta = key === undefined ? undefined : { [keyField]: key };
      const { content } = await client.call('order', {}, meta);
      requests += client.exchanges.length;
      const effects = new Map<string, { keys: number; runs: number }>();
      for (const { id, runs } of host.effects) {
        const before = effects.get(id) ?? { keys: 0, runs: 0 };
        effects.set(id, { keys: before.keys + 1, runs: before.runs + runs });
      }
      return { text: content.map(({ text = '' }) => text).join(), requests, effects };
    } catch (error) {
      if (calls > 6) throw error;
    } finally {
      await client.close().catch(() => undefined);
    }
  }
}

/** Plans the loss of a response, or a break behind a step. Undefined: the saga has no such place. */
function cutOf(given: Case, { requests }: Played): ((host: TestHost) => void) | undefined {
  const { at, isStep, parts, times } = given;
  if (!isStep) {
    const first = 1 + (at % requests);
    return (host) => {
      for (let lost = 0; lost < times; lost += 1) host.cutAfter(first + lost);
    };
  }
  const steps = parts.flatMap((kind, index) =>
    kind === 'charge' || kind === 'mail' ? [`${kind}-${index}`] : [],
  );
  const id = steps[at % Math.max(1, steps.length)];
  return id === undefined ? undefined : (host) => void host.cutAfter(id);
}

it('[E1] [T13] a call with a key acts once, whichever response of any dialect is lost', async () => {
  await fc.assert(
    fc.asyncProperty(anyCase, async (given) => {
      const undisturbed = await play(given, 'call-1');
      const cut = cutOf(given, undisturbed);
      if (cut === undefined) return;
      const { text, effects } = await play(given, 'call-1', cut);
      // A session that breaks takes its call along. Without a queue, its saga is undone at once.
      const isUndone = given.way.dialect === 'push' && text !== undisturbed.text;
      if (!isUndone) {
        expect(text).toBe(undisturbed.text);
        expect([...effects.keys()].toSorted()).toEqual([...undisturbed.effects.keys()].toSorted());
      }
      for (const [id, { keys, runs }] of effects) {
        expect({ id, keys }).toEqual({ id, keys: 1 });
        // The store keeps the response, so that nothing runs again.
        if (given.store === 'shared' && !given.isStep)
          expect({ id, runs }).toEqual({ id, runs: 1 });
        const isStanding = isUndone && id.startsWith('charge') && !effects.has(`~${id}`);
        expect({ id, isStanding }).toEqual({ id, isStanding: false });
      }
    }),
    { numRuns: Number(process.env['SAGA_RUNS'] ?? 500), examples: [[lostTask]] },
  );
});
