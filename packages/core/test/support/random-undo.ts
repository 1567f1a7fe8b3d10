/** Random sagas that end in undoing, over a ledger. */
import * as fc from 'fast-check';
import { z } from 'zod';
import {
  abort,
  all,
  allSettled,
  checkpoint,
  compensator,
  elicit,
  pivot,
  poll,
  race,
  saga,
  scope,
  sleep,
  step,
  type Saga,
  type StepContext,
} from '../../src/index.ts';
import type { ClientAnswer, ClientStep } from '../../src/model/client-step.ts';
import type { Command, Steps } from '../../src/model/command.ts';
import type { Compensator, UndoContext } from '../../src/model/undo-types.ts';
import { accepted, refused } from './drive.ts';
import type { Ledger } from './ledger.ts';
import { hash } from './world.ts';

/** A step on the ledger. */
export interface Book {
  readonly kind: 'book';
  readonly id: string;
  readonly key: boolean;
  readonly undo: 'function' | 'generator' | 'named' | 'none';
  /** Whether it can be undone when its outcome is not known. */
  readonly unknown: boolean;
  readonly attempts: number;
}

/** A piece of a saga. */
export type Node =
  | Book
  | { readonly kind: 'ask'; readonly id: string; readonly outcome: boolean; readonly ttl: boolean }
  | { readonly kind: 'pivot' | 'abort' | 'throw' | 'checkpoint' }
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'poll'; readonly answers: number; readonly every: number }
  | { readonly kind: 'sequence'; readonly nodes: readonly Node[] }
  | { readonly kind: 'loop'; readonly times: number; readonly body: Node }
  | { readonly kind: 'scope'; readonly body: Node }
  | { readonly kind: 'all' | 'allSettled' | 'race'; readonly branches: readonly Node[] }
  | {
      readonly kind: 'try';
      readonly body: Node;
      readonly catch: Node | undefined;
      readonly finally: Node | undefined;
    };

const Form = z.object({ n: z.number() });
const Sealed = z.object({ path: z.string() });

/** The answer of a client depends on the question and on a salt. */
export function answerBy(salt: string): (step: ClientStep) => ClientAnswer {
  return ({ stepId }) => {
    const draw = hash(`${salt} ${stepId}`);
    return draw % 4 === 0
      ? refused(draw % 8 === 0 ? 'decline' : 'cancel')
      : accepted({ n: draw % 7 });
  };
}

/** The compensator that sagas of trees seal. */
export function release(ledger: Ledger): Compensator<typeof Sealed> {
  return compensator('release', Sealed, ({ args, stepKey, idempotencyKey }) =>
    ledger.undo(args.path === '' ? pathOf(stepKey) : args.path, idempotencyKey),
  );
}

const pathOf = (key: string): string => {
  const [path = ''] = key.replace(/^do:/, '').split('|');
  return path;
};

function ask({ id, outcome, ttl }: Extract<Node, { kind: 'ask' }>): Command<unknown> {
  const options = { message: id, schema: Form, ...(ttl ? { timeout: 40 } : {}) };
  return outcome ? elicit.outcome(id, options) : elicit(id, options);
}

/** Makes the saga of a tree, as a fresh instance. */
export function sagaOf(
  tree: Node,
  ledger: Ledger,
  options: {
    readonly gate?: (signal: AbortSignal) => Promise<void>;
  } = {},
): Saga<undefined, undefined> {
  const { gate } = options;
  const named = release(ledger);

  function book({ id, key, undo, unknown, attempts }: Book, time: number): Command<unknown> {
    const run = async ({ idempotencyKey, signal }: StepContext<undefined>): Promise<unknown> => {
      const path = pathOf(idempotencyKey);
      if (undo !== 'none') ledger.undoable.add(path);
      if (gate !== undefined) await gate(signal);
      return { path, ...ledger.do(path, idempotencyKey) };
    };
    const settings = {
      ...(key ? { key: `k${time}` } : {}),
      retry: { attempts, delay: 30, jitter: false },
      undo: { retry: { attempts: 2, delay: 30, jitter: false } },
    };
    const byKey = ({
      stepKey,
      idempotencyKey,
    }: Pick<UndoContext<unknown, undefined>, 'stepKey' | 'idempotencyKey'>): void =>
      ledger.undo(pathOf(stepKey), idempotencyKey);
    const lost = unknown ? { unknown: 'compensate' as const } : {};
    if (undo === 'none') return step(id, run, settings);
    if (undo === 'named') {
      // An unknown outcome has no result: the compensator then finds the path by the key of the step.
      const compensation = named.for<unknown, undefined, 'compensate'>(({ outcome, result }) => ({
        path: outcome === 'done' ? (result as { path: string }).path : '',
      }));
      return step(id, run, {
        ...settings,
        compensate: compensation,
        unknown: unknown ? 'compensate' : 'report',
      });
    }
    if (undo === 'function') return step(id, run, { ...settings, ...lost, compensate: byKey });
    return step(id, run, {
      ...settings,
      ...lost,
      *compensate({ stepKey }) {
        yield* step('look', () => void ledger.calls.push('look'));
        yield* sleep(5);
        yield* step('release', ({ idempotencyKey }) =>
          ledger.undo(pathOf(stepKey), idempotencyKey),
        );
      },
    });
  }

  function* walk(node: Node, time: number): Steps<void> {
    switch (node.kind) {
      case 'book':
        yield* book(node, time);
        return;
      case 'ask':
        yield* ask(node);
        return;
      case 'pivot':
        yield* step('pivoted', ({ idempotencyKey }) => ledger.pivot(idempotencyKey));
        yield* pivot('pivot');
        return;
      case 'abort':
        yield* abort('enough');
        return;
      case 'throw':
        throw new Error('own');
      case 'checkpoint':
        yield* checkpoint();
        return;
      case 'sleep':
        yield* sleep(node.ms);
        return;
      case 'poll':
        yield* poll('poll', ({ attempt }) => (attempt > node.answers ? attempt : undefined), {
          every: node.every,
          timeout: 100,
          report: 'still waiting',
        });
        return;
      case 'sequence':
        for (const inner of node.nodes) yield* walk(inner, time);
        return;
      case 'loop':
        for (let index = 0; index < node.times; index += 1) yield* walk(node.body, index);
        return;
      case 'scope':
        yield* scope('s', walk(node.body, time));
        return;
      case 'all':
        yield* all(node.branches.map((inner) => walk(inner, time)));
        return;
      case 'allSettled':
        yield* allSettled(node.branches.map((inner) => walk(inner, time)));
        return;
      case 'race':
        yield* race(
          Object.fromEntries(node.branches.map((inner, index) => [`b${index}`, walk(inner, time)])),
        );
        return;
      case 'try':
        try {
          yield* walk(node.body, time);
        } catch (error) {
          if (node.catch === undefined) throw error;
          yield* walk(node.catch, time);
        } finally {
          // In a fiber of its own: this one is a helper, whose `finally` is cut after its first
          // command when it is ended.
          if (node.finally !== undefined) yield* scope('finally', walk(node.finally, time));
        }
    }
  }

  return saga({ name: 'undo', version: '1', reuse: 'ok' }, function* () {
    yield* walk(tree, 0);
    return 'done';
  });
}

const ids = fc.constantFrom('a', 'b', 'c');
const bookNode: fc.Arbitrary<Node> = fc.record({
  kind: fc.constant('book' as const),
  id: ids,
  key: fc.boolean(),
  undo: fc.constantFrom(
    'function' as const,
    'function' as const,
    'generator' as const,
    'named' as const,
    'none' as const,
  ),
  unknown: fc.boolean(),
  attempts: fc.constantFrom(1, 2),
});

/**
 * Trees of sagas that are likely to end in undoing.
 *
 * @param options.parallel whether there are branches; without, what happens does not depend on time
 */
export function trees(options: { readonly parallel: boolean }): fc.Arbitrary<Node> {
  const make = (depth: number, branched: boolean): fc.Arbitrary<Node> => {
    const flat = fc.oneof(
      { weight: 6, arbitrary: bookNode },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('ask' as const),
          id: ids,
          outcome: fc.boolean(),
          ttl: options.parallel ? fc.boolean() : fc.constant(false),
        }),
      },
      {
        weight: 2,
        arbitrary: fc
          .constantFrom(
            'abort' as const,
            'throw' as const,
            'checkpoint' as const,
            ...(branched ? [] : (['pivot'] as const)),
          )
          .map((kind): Node => ({ kind })),
      },
      {
        weight: 1,
        arbitrary: fc.constantFrom(0, 10, 60).map((ms): Node => ({ kind: 'sleep', ms })),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('poll' as const),
          answers: fc.nat(3),
          every: fc.constantFrom(10, ...(options.parallel ? [60] : [])),
        }),
      },
    );
    if (depth === 0) return flat;
    const inner = (within = branched): fc.Arbitrary<Node> => make(depth - 1, within);
    return fc.oneof(
      { weight: 3, arbitrary: flat },
      {
        weight: 3,
        arbitrary: fc
          .array(inner(), { minLength: 1, maxLength: 4 })
          .map((nodes): Node => ({ kind: 'sequence', nodes })),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('loop' as const),
          times: fc.integer({ min: 1, max: 3 }),
          body: inner(),
        }),
      },
      { weight: 1, arbitrary: inner().map((body): Node => ({ kind: 'scope', body })) },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('try' as const),
          body: inner(),
          catch: fc.option(inner(), { nil: undefined }),
          finally: fc.option(inner(), { nil: undefined }),
        }),
      },
      ...(options.parallel
        ? [
            {
              weight: 4,
              arbitrary: fc.record({
                kind: fc.constantFrom(
                  'all' as const,
                  'all' as const,
                  'allSettled' as const,
                  'race' as const,
                ),
                branches: fc.array(inner(true), { minLength: 1, maxLength: 3 }),
              }),
            },
          ]
        : []),
    );
  };
  return fc
    .array(make(2, false), { minLength: 2, maxLength: 4 })
    .map((nodes): Node => ({ kind: 'sequence', nodes: [...nodes, { kind: 'throw' }] }));
}
