/**
 * Random sagas that act on a ledger and can be undone: what fast-check draws, and the saga made of
 * it.
 */
import * as fc from 'fast-check';
import {
  abort,
  all,
  allSettled,
  call,
  checkpoint,
  compensator,
  each,
  elicit,
  patched,
  pivot,
  poll,
  race,
  saga,
  scope,
  sleep,
  step,
  type Saga,
  type Schema,
} from '../../src/index.ts';
import type { UndoContext } from '../../src/model/undo-types.ts';
import type { ClientAnswer, ClientStep } from '../../src/model/client-step.ts';
import type { Command, Steps } from '../../src/model/command.ts';
import { accepted, refused } from './drive.ts';
import type { Ledger } from './provider.ts';
import { hash, type World } from './world.ts';

/** A piece of a saga. */
export type Piece =
  | {
      readonly kind: 'step';
      readonly id: string;
      readonly keyed: boolean;
      readonly undo: 'none' | 'function' | 'steps' | 'named';
      /** Whether it can be undone when its outcome is not known. */
      readonly unknown: boolean;
      readonly retried: boolean;
    }
  | {
      readonly kind: 'ask';
      readonly id: string;
      readonly refusable: boolean;
      readonly ttl: number | undefined;
    }
  /** A step that only has an undo. */
  | { readonly kind: 'hold'; readonly undo: 'function' | 'steps' | 'named' }
  | { readonly kind: 'pivot' | 'throw' }
  | { readonly kind: 'abort' | 'checkpoint' | 'patched' }
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'poll'; readonly asks: number; readonly timeout: number }
  | { readonly kind: 'sequence'; readonly pieces: readonly Piece[] }
  | { readonly kind: 'loop'; readonly times: number; readonly body: Piece }
  | { readonly kind: 'scope' | 'call'; readonly id: string; readonly body: Piece }
  | { readonly kind: 'all' | 'allSettled' | 'race' | 'each'; readonly branches: readonly Piece[] }
  | {
      readonly kind: 'try';
      readonly body: Piece;
      readonly catch: Piece | undefined;
      readonly finally: Piece | undefined;
    };

/** What a saga acts on. */
export interface Stage {
  readonly world: World;
  readonly ledger: Ledger;
  /** What the body of each instance saw, in the order they were made. */
  readonly traces: string[][];
}

const Key: Schema<{ key: string }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => ({ value: value as { key: string } }),
  },
};
const Form: Schema<{ n: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => ({ value: value as { n: number } }),
    jsonSchema: {
      input: () => ({ type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }),
      output: () => ({}),
    },
  },
};

/** The answer of a client depends on the question and on `lean` only. */
export function answerOf(lean: number): (step: ClientStep) => ClientAnswer {
  return ({ stepId, params }) => {
    const { message } = params as { message: string };
    const draw = hash(`${stepId} ${lean}`);
    return message === 'sure?' && draw % 3 === 0 ? refused() : accepted({ n: draw % 5 });
  };
}

/** Makes the saga of a piece, as a fresh instance. */
export function sagaOfPiece(
  piece: Piece,
  stage: Stage,
  onMismatch?: 'compensate',
): Saga<undefined, undefined> {
  const trace: string[] = [];
  stage.traces.push(trace);
  const options = { name: 'ledger', version: '1', reuse: 'ok' as const };
  return saga({ ...options, ...(onMismatch === undefined ? {} : { onMismatch }) }, function* () {
    yield* new Walk(stage, trace).of(piece);
    return 'done';
  });
}

/** The compensator of random sagas. */
export function cancelOf({ ledger }: Stage) {
  return compensator('cancel', Key, (undo) =>
    ledger.cancel(undo, undo.args.key === '' ? undo.stepKey : undo.args.key),
  );
}

class Walk {
  readonly #stage: Stage;
  readonly #trace: string[];
  #pivots = 0;

  constructor(stage: Stage, trace: string[]) {
    this.#stage = stage;
    this.#trace = trace;
  }

  *of(piece: Piece): Steps<void> {
    switch (piece.kind) {
      case 'sequence':
        for (const inner of piece.pieces) yield* this.of(inner);
        return;
      case 'loop':
        for (let time = 0; time < piece.times; time += 1) yield* this.of(piece.body);
        return;
      case 'scope':
        yield* scope(piece.id, this.of(piece.body));
        return;
      case 'call':
        yield* call(this.#child(piece), {});
        return;
      case 'all':
        yield* all(this.#branches(piece.branches));
        return;
      case 'each': {
        const branches = this.#branches(piece.branches);
        yield* each(Object.keys(branches), (key) => branches[key] as Steps<void>, { limit: 1 });
        return;
      }
      case 'allSettled': {
        const settled = yield* allSettled(this.#branches(piece.branches));
        this.#trace.push(
          Object.values(settled)
            .map(({ status }) => status)
            .join(),
        );
        return;
      }
      case 'race': {
        const { winner } = yield* race(this.#branches(piece.branches));
        this.#trace.push(`won ${winner}`);
        return;
      }
      case 'try':
        // In a scope, because `yield*` does not pass a return on after a `finally` inside has
        // yielded.
        yield* scope('t', this.#guarded(piece));
        return;
      case 'pivot':
        // It counts from when it is reached, even if the saga has to end right there.
        this.#stage.ledger.pivot(this.#pivots);
        this.#pivots += 1;
        yield* pivot('pivot');
        return;
      case 'throw':
        throw Object.assign(new Error('own'), { name: 'OwnError' });
      case 'step':
      case 'ask':
      case 'hold':
      case 'abort':
      case 'checkpoint':
      case 'patched':
      case 'sleep':
      case 'poll':
        this.#trace.push(`${piece.kind} ${JSON.stringify(yield* this.#command(piece))}`);
    }
  }

  *#guarded(piece: Extract<Piece, { kind: 'try' }>): Steps<void> {
    try {
      yield* this.of(piece.body);
    } catch (error) {
      if (piece.catch === undefined) throw error;
      this.#trace.push(`caught ${(error as Error).name}`);
      yield* this.of(piece.catch);
    } finally {
      this.#trace.push('finally');
      if (piece.finally !== undefined) yield* this.of(piece.finally);
    }
  }

  #branches(list: readonly Piece[]): Record<string, Steps<void>> {
    return Object.fromEntries(list.map((piece, index) => [`b${index}`, this.of(piece)]));
  }

  #child({ id, body }: { readonly id: string; readonly body: Piece }): Saga<undefined, undefined> {
    const walk = (): Steps<void> => this.of(body);
    return saga({ name: id, version: '1', reuse: 'ok' }, function* () {
      yield* walk();
      return 'child';
    });
  }

  #command(
    piece: Exclude<
      Piece,
      {
        kind:
          | 'sequence'
          | 'loop'
          | 'scope'
          | 'call'
          | 'all'
          | 'allSettled'
          | 'race'
          | 'each'
          | 'try'
          | 'pivot'
          | 'throw';
      }
    >,
  ): Command<unknown> {
    const { ledger } = this.#stage;
    switch (piece.kind) {
      case 'step':
        return this.#step(piece);
      case 'ask':
        return elicit(piece.id, {
          message: piece.refusable ? 'sure?' : 'how many?',
          schema: Form,
          ...(piece.ttl === undefined ? {} : { timeout: piece.ttl }),
        });
      case 'hold':
        return step('held', () => undefined, {
          compensate:
            piece.undo === 'function'
              ? (context) => ledger.cancel(context, context.stepKey)
              : piece.undo === 'steps'
                ? this.#undoSteps()
                : cancelOf(this.#stage).for(() => ({ key: 'held' })),
          undo: { retry: { attempts: 2, delay: 5 } },
        });
      case 'abort':
        return abort('enough');
      case 'checkpoint':
        return checkpoint();
      case 'patched':
        return patched('change');
      case 'sleep':
        return sleep(piece.ms);
      case 'poll': {
        const { asks, timeout } = piece;
        return poll('poll', ({ attempt }) => (attempt >= asks ? attempt : undefined), {
          every: 20,
          timeout: timeout,
        });
      }
    }
  }

  #step({ id, keyed, undo, unknown, retried }: Extract<Piece, { kind: 'step' }>): Command<unknown> {
    const { ledger } = this.#stage;
    const cancel = (
      context: Omit<UndoContext<unknown, unknown>, 'outcome' | 'result'>,
    ): Promise<void> => ledger.cancel(context, context.stepKey);
    const known =
      undo === 'none'
        ? {}
        : undo === 'function'
          ? { compensate: cancel }
          : undo === 'steps'
            ? { compensate: this.#undoSteps() }
            : {
                compensate: cancelOf(this.#stage).for<{ key: string }, undefined, 'compensate'>(
                  ({ outcome, result }) => (outcome === 'done' ? result : { key: '' }),
                ),
              };
    return step(id, (caller) => ledger.book(caller), {
      ...(keyed ? { key: 'k' } : {}),
      ...known,
      ...(unknown && undo !== 'none' ? { unknown: 'compensate' as const } : {}),
      retry: { attempts: retried ? 2 : 1, delay: 40, jitter: false },
      undo: { retry: { attempts: 2, delay: 30, jitter: false } },
    });
  }

  /** Returns an undo of two steps, of which the first may fail. */
  #undoSteps(): (context: { readonly stepKey: string }) => Steps<void> {
    const { ledger } = this.#stage;
    const trace = this.#trace;
    return function* ({ stepKey }) {
      trace.push(`undoing ${stepKey}`);
      try {
        yield* step('note', (caller) => ledger.note(caller));
      } catch (error) {
        trace.push(`not noted ${(error as Error).name}`);
      }
      yield* step('cancel', (caller) => ledger.cancel(caller, stepKey));
      trace.push(`undone ${stepKey}`);
    };
  }
}

// ---------------------------------------------------------------------------------------------------------------

const ids = fc.constantFrom('a', 'b', 'c');

const steps: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constant('step' as const),
  id: ids,
  keyed: fc.boolean(),
  undo: fc.constantFrom('none', 'function', 'function', 'steps', 'steps', 'named'),
  unknown: fc.boolean(),
  retried: fc.boolean(),
});
const holds: fc.Arbitrary<Piece> = fc.record({
  kind: fc.constant('hold' as const),
  undo: fc.constantFrom('function', 'steps', 'named'),
});
const flat = (kind: 'pivot' | 'abort' | 'throw' | 'checkpoint' | 'patched'): fc.Arbitrary<Piece> =>
  fc.constant<Piece>({ kind });

/** What a piece may do, by the pieces around it. */
interface Place {
  readonly fails: boolean;
  readonly parallel: boolean;
  /**
   * `false` in a branch of `all` in a `finally`: after an abort, a question fails there, and ends
   * the other branches.
   */
  readonly asks: boolean;
  /** Whether it is part of a `finally`. */
  readonly last: boolean;
}

/**
 * Pieces of sagas.
 *
 * @param options.wild whether what happens may depend on the clock and on the order of completion:
 * branches fail and are aborted, races are run, questions time out
 */
export function pieces({ wild }: { readonly wild: boolean }): fc.Arbitrary<Piece> {
  const leaves = ({ fails, parallel, asks }: Place): fc.Arbitrary<Piece> => {
    const mayEnd = fails && (wild || !parallel);
    const ask = fc.record({
      kind: fc.constant('ask' as const),
      id: ids,
      refusable: fails ? fc.boolean() : fc.constant(false),
      ttl: fc.constantFrom(...(wild ? [undefined, 500, 3_000] : [undefined])),
    });
    return fc.oneof(
      { weight: 8, arbitrary: steps },
      { weight: 2, arbitrary: holds },
      ...(asks ? [{ weight: 3, arbitrary: ask }] : []),
      {
        weight: 2,
        arbitrary: fc.oneof(
          ...(asks ? [flat('checkpoint')] : []),
          flat('patched'),
          fc.record({ kind: fc.constant('sleep' as const), ms: fc.constantFrom(0, 30, 5_000) }),
          fc.record({
            kind: fc.constant('poll' as const),
            asks: fc.constantFrom(1, 2, 3),
            timeout: wild ? fc.constantFrom(25, 100_000) : fc.constant(10_000_000),
          }),
        ),
      },
      ...(mayEnd ? [{ weight: 1, arbitrary: flat('abort') }] : []),
      ...(fails ? [{ weight: 1, arbitrary: flat('throw') }] : []),
    );
  };
  const make = (depth: number, place: Place): fc.Arbitrary<Piece> => {
    if (depth === 0) return leaves(place);
    const { fails, parallel, last } = place;
    const inner = (changed: Partial<Place> = {}): fc.Arbitrary<Piece> =>
      make(depth - 1, { ...place, ...changed });
    const group = (kind: 'all' | 'allSettled' | 'race' | 'each'): fc.Arbitrary<Piece> => {
      const settles = kind === 'allSettled';
      const branch = {
        fails: wild || (fails && settles),
        parallel: true,
        asks: wild || settles || !last,
      };
      return fc.record({
        kind: fc.constant(kind),
        branches: fc.array(inner(branch), { minLength: 1, maxLength: 3 }),
      });
    };
    return fc.oneof(
      { weight: 4, arbitrary: leaves(place) },
      {
        weight: 5,
        arbitrary: fc.record({
          kind: fc.constant('sequence' as const),
          pieces: fc.array(inner(), { minLength: 1, maxLength: 3 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('loop' as const),
          times: fc.nat(3),
          body: inner(),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constantFrom('scope' as const, 'call' as const),
          id: fc.constantFrom('a', 's'),
          body: inner(),
        }),
      },
      { weight: 3, arbitrary: group('all') },
      { weight: 2, arbitrary: group('each') },
      { weight: 1, arbitrary: group('allSettled') },
      ...(wild ? [{ weight: 2, arbitrary: group('race') }] : []),
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('try' as const),
          body: inner({ fails: wild || !parallel ? true : fails }),
          catch: fails ? fc.option(inner(), { nil: undefined }) : inner(),
          finally: fc.option(inner({ last: true }), { nil: undefined }),
        }),
      },
    );
  };
  const top = fc.oneof(
    { weight: 9, arbitrary: make(3, { fails: true, parallel: false, asks: true, last: false }) },
    { weight: 1, arbitrary: flat('pivot') },
  );
  const last = fc.option(fc.oneof(flat('throw'), flat('abort')), { nil: undefined, freq: 3 });
  return fc
    .tuple(fc.array(top, { minLength: 1, maxLength: 4 }), last)
    .map(([first, end]): Piece => ({
      kind: 'sequence',
      pieces: end === undefined ? first : [...first, end],
    }));
}
