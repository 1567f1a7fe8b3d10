/**
 * Checks at compile time. The types of the yielded commands are a union, from which these types
 * read what the body does: whether it needs a store, yields what is no command, or returns what
 * does not fit. A failed check is a sentence in the type of the argument, because that is what an
 * editor shows.
 */
import type {
  AskingCommand,
  asksClient,
  Command,
  GuardedCommand,
  needsStore,
} from '../../model/command.ts';

/** A saga with an undo, a pivot, or a step that runs once. Its host needs a store. */
export interface NeedsStore {
  // `any`, as in a guarded command.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [needsStore]: any;
}

/** Options of a saga whose values its type tells. */
export interface StoreOptions<
  Reuse extends 'ok' | undefined,
  CommitEach extends boolean | undefined,
> {
  readonly reuse?: Reuse | undefined;
  readonly commitEach?: CommitEach;
}

/**
 * `true` if the body `Y` and the options of a saga say that it needs a store. A `boolean` says
 * nothing: only the run time knows its value.
 */
export type IsStoreNeeded<
  Y,
  Reuse extends 'ok' | undefined,
  CommitEach extends boolean | undefined = false,
> = [Reuse] extends ['ok'] ? false : [CommitEach] extends [true] ? true : IsGuarded<Y>;

/** Type of a prompt, resource, or machine that needs a store; `unknown` if it needs none. */
export type StoreNeed<
  Y,
  Reuse extends 'ok' | undefined,
  CommitEach extends boolean | undefined = false,
> = IsStoreNeeded<Y, Reuse, CommitEach> extends true ? NeedsStore : unknown;

/**
 * `true` if a command, a generator, or an alternative of a union compensates, pivots, or runs once,
 * or is a saga that does.
 */
export type IsGuarded<T> = Carries<T, typeof needsStore>;

/** `true` if a command, a generator, or an alternative of a union asks the client. */
export type AsksClient<T> = Carries<T, typeof asksClient>;

type Carries<T, Key extends symbol> = [0] extends [1 & T]
  ? false
  : true extends (
        T extends { readonly [K in Key]: unknown }
          ? true
          : T extends Generator<infer Y>
            ? Carries<Y, Key>
            : false
      )
    ? true
    : false;

/**
 * Command of a group with the result `T`. It carries what the commands among the branches `B`
 * carry. A group that needs a store does not show that it asks: an undo contains no such group.
 */
export type GroupCommand<B, T> =
  IsGuarded<BranchOf<B>> extends true
    ? GuardedCommand<T>
    : AsksClient<BranchOf<B>> extends true
      ? AskingCommand<T>
      : Command<T>;

type BranchOf<B> = B extends readonly unknown[] ? B[number] : B[keyof B];
