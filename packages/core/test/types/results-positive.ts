/* oxlint-disable typescript/no-unnecessary-type-parameters -- helpers have them */
/**
 * What steps may return, with the exact types it has. Compiled by types.test.ts with both
 * compilers.
 */
import { z } from 'zod';
import {
  compensator,
  poll,
  step,
  type InferOutput,
  type Json,
  type Schema,
} from '../../src/index.ts';
import type { UndoFunction } from '../../src/model/undo-types.ts';
import type { Command, GuardedCommand, Steps } from '../../src/model/command.ts';
import { expectType, type Equal } from './equal.ts';

type Given<C> = C extends Command<infer R> ? R : 'no command';

interface Item {
  readonly id: string;
  at: Date;
  parent?: Item;
  readonly items: readonly Item[];
  more: { [name: string]: Item };
  toString(): string;
  onChange?: () => void;
}
class OwnError extends Error {
  readonly extra = 1;
  retry(): void {}
}
class Order {
  readonly id = 1;
  total(): number {
    return 1;
  }
}
type Brand = string & { readonly brand: unique symbol };
interface Marked {
  readonly mark: 1;
}
type Lists = Lists[];
// oxlint-disable-next-line typescript/no-empty-object-type -- what may be anything
type Empty = {};
type Either =
  | { readonly ok: true; readonly item: Item }
  | { readonly ok: false; readonly error: OwnError };

declare function of<T>(): T;
declare const yes: boolean;
declare const anything: ReturnType<typeof JSON.parse>;

const literal = step('x', () => 'a' as const);
expectType<Equal<typeof literal, Command<'a'>>>();
const awaited = step('x', async () => of<Item>());
expectType<Equal<typeof awaited, Command<Item>>>();
const maybe = step('x', () => of<Promise<Item> | Item | undefined>());
expectType<Equal<Given<typeof maybe>, Item | undefined>>();
const either = step('x', async () => of<Either>());
expectType<Equal<typeof either, Command<Either>>>();
const nothing = step('x', async () => {});
expectType<Equal<typeof nothing, Command<void>>>();
const never = step('x', () => {
  throw new Error('x');
});
expectType<Equal<typeof never, Command<never>>>();
const parsed = step('x', () => anything);
expectType<Equal<Given<typeof parsed>, typeof anything>>();
const unsure = step('x', async () => of<unknown>());
expectType<Equal<typeof unsure, Command<unknown>>>();
const pair = step('x', () => [1, 'a'] as const);
expectType<Equal<typeof pair, Command<readonly [1, 'a']>>>();
const object = step('x', () => ({
  at: new Date(0),
  size: 1n,
  none: undefined,
  list: [] as string[],
}));
expectType<
  Equal<Given<typeof object>, { at: Date; size: bigint; none: undefined; list: string[] }>
>();
const explicit = step<{ n: number }, { m: string }>('x', ({ input }) => ({ n: input.m.length }), {
  input: { m: 'm' },
});
expectType<Equal<typeof explicit, Command<{ n: number }>>>();
const polled = poll('x', () => of<Item | undefined>(), { every: 1, timeout: 2 });
expectType<Equal<typeof polled, Command<Item>>>();
// A result with keep: false may have any type.
const dropped = step('x', () => new Order(), { keep: false, compensate: () => {} });
expectType<Equal<typeof dropped, GuardedCommand<void>>>();

export const kept = [
  step('x', () => of<null | boolean | number | string | bigint | undefined>()),
  step('x', () => of<Json>()),
  step('x', () => of<Json | undefined>()),
  step('x', () => of<Brand>()),
  step('x', () => of<`a-${string}`>()),
  step('x', () => of<object>()),
  step('x', () => of<Empty>()),
  step('x', () => of<Record<string, unknown>>()),
  step('x', () => of<Record<string, () => void>>()),
  step('x', () => of<Date | URL | Error>()),
  step('x', () => of<OwnError>()),
  step('x', () => of<DOMException>()),
  step('x', () => of<Uint8Array>()),
  step('x', () => Buffer.from('')),
  step('x', () => of<Map<string, Set<number>>>()),
  step('x', () => of<ReadonlyMap<string, ReadonlySet<Order>>>()),
  step('x', () => of<Date & Marked>()),
  step('x', () => of<Map<string, number> & Marked>()),
  step('x', () => of<Set<string> & Marked>()),
  step('x', () => of<URL & Marked>()),
  step('x', () => of<Iterable<string>>()),
  step('x', () => of<{ toString(): string; list: Iterable<string> }>()),
  step('x', () => of<ArrayLike<string>>()),
  step('x', () => of<RegExpMatchArray>()),
  step('x', () => of<Item[]>()),
  step('x', () => of<readonly Item[]>()),
  step('x', () => of<Lists>()),
  step('x', () => of<never[]>()),
  step('x', () => [{ item: of<Item>(), brand: of<Brand>() }]),
  step('x', () => of<[number, Order]>()),
  step('x', () => of<{ any: typeof anything; unknown: unknown; never: never; optional?: Order }>()),
  step('x', () => of<{ either: string | (() => string); none: Order | null }>()),
  step('x', () => of<Omit<Order, 'total'>>()),
  step('x', () => of<Partial<Response>>()),
  step('x', () => of<{ valueOf(): unknown; readonly id: 1 }>()),
];

/** Helpers pass their arguments on. */
export const helpers = {
  order: <T extends Json>(value: T): Command<T> => step('x', () => value),
  loads: <T>(load: () => Promise<T>): Command<T> => step('x', load),
  loadsOrNot: <T>(load: () => Promise<T | undefined>): Command<T | undefined> => step('x', load),
  list: <T extends Json>(load: () => Promise<readonly T[]>): Command<readonly T[]> =>
    step('x', load),
  first: <T extends { id: string }>(load: () => Promise<T[]>) =>
    step('x', async () => (await load())[0]),
  wraps: <T>(load: () => Promise<T>) => step('x', async () => ({ value: await load(), count: 1 })),
  page: <T>(load: () => Promise<{ items: T[]; last: T | undefined; byId: Map<string, T> }>) =>
    step('x', load),
  tuple: <T>(load: () => Promise<[T, number]>): Command<[T, number]> => step('x', load),
  field: <T extends object, K extends keyof T>(from: T, key: K): Command<T[K]> =>
    step('x', () => from[key]),
  part: <T extends Item>(load: () => Promise<Omit<T, 'id'> & { more: T[] }>) => step('x', load),
  mapped: <T extends Record<string, Json>>(load: () => Promise<{ [K in keyof T]: T[K][] }>) =>
    step('x', load),
  either: <T extends Json, B extends boolean>(load: () => Promise<B extends true ? T : T[]>) =>
    step('x', load),
  result: <T, E extends Error>(load: () => Promise<T>, toError: (thrown: unknown) => E) =>
    step('x', async () => {
      try {
        return { ok: true as const, value: await load() };
      } catch (thrown) {
        return { ok: false as const, error: toError(thrown) };
      }
    }),
  calls: <F extends (...args: never[]) => unknown>(run: () => ReturnType<F>) =>
    step('x', () => run()),
  parses: <S extends Schema>(load: () => Promise<InferOutput<S>>): Command<InferOutput<S>> =>
    step('x', load),
  explicit: <T>(load: () => Promise<T>): Command<T> => step<T>('x', load),
  withInput: <I extends Json, T extends Json>(
    input: I,
    run: (input: I) => Promise<T>,
  ): Command<T> => step('x', (given) => run(given.input), { input, retry: 3 }),
  polls: <T>(ask: () => Promise<T | undefined>) => poll('x', ask, { every: 1, timeout: 2 }),
  undoes: <T>(load: () => Promise<T>, undo: (result: T) => unknown): Command<T> =>
    step('x', load, {
      compensate: ({ result }) => {
        expectType<Equal<typeof result, T>>();
        return undo(result);
      },
    }),
  undoesAs: <T, U>(load: () => Promise<T>, undo: (result: T) => U): Command<T> =>
    step('x', load, { compensate: ({ result }) => undo(result) }),
  undoesBy: <T>(load: () => Promise<T>, undo?: UndoFunction<T, undefined>): Command<T> =>
    step('x', load, { ...(undo ? { compensate: undo } : {}), retry: 3 }),
  holds: (undo: UndoFunction<undefined, undefined>) =>
    step('x', () => undefined, { compensate: undo }),
  holdsAs: <U>(undo: () => U) => step('x', () => undefined, { compensate: () => undo() }),
};

const refund = compensator('refund', z.object({ n: z.number() }), () => {});

/** Undos of each kind, and of several to choose from. */
export const undone = [
  step('x', () => 1, { compensate: () => of<unknown>() }),
  step('x', () => 1, { compensate: () => anything }),
  step('x', () => 1, { compensate: async ({ result }) => void result.toFixed() }),
  step('x', () => 1, {
    compensate: function* ({ result, stepKey }) {
      yield* step('undo', () => stepKey.length + result);
    },
  }),
  step('x', () => 1, {
    *compensate({ result }): Steps<void> {
      yield* step('undo', () => result.toFixed());
    },
  }),
  step('x', () => 1, { compensate: yes ? async () => {} : ({ result }) => result.toFixed() }),
  step('x', () => 1, { compensate: yes ? refund.for(({ result }) => ({ n: result })) : () => 'x' }),
  step('x', () => 1, {
    label: 'x',
    ...(yes
      ? { compensate: async () => {} }
      : {
          *compensate(): Steps<void> {
            yield* step('undo', () => 1);
          },
        }),
  }),
  step('x', () => undefined, { compensate: async ({ stepKey }) => stepKey }),
  step('x', () => undefined, { compensate: refund.for(() => ({ n: 1 })) }),
];
