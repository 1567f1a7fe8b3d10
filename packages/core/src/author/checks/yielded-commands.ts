/**
 * Checks at compile time. The types of the yielded commands are a union, from which these types
 * read what the body does: whether it needs `forks`, yields what is no command, or returns what
 * does not fit. A failed check is a sentence in the type of the argument, because that is what an
 * editor shows.
 */
import type {
  AskingCommand,
  asksClient,
  Command,
  ForkSensitiveCommand,
  forkSensitive,
} from '../../model/command.ts';

/**
 * Requires `forks` in the options of a saga whose body yields a command that compensates, pivots,
 * or runs once, and `forks: 'refuse'` in those of a saga that commits each step.
 */
export type NeedsForks<Y, CommitEach extends boolean | undefined = false> = NeedsGuard<CommitEach> &
  (IsForkSensitive<Y> extends true ? { readonly forks: 'refuse' | 'accept' } : unknown);

/** A `boolean` passes: only the run time knows its value. */
type NeedsGuard<CommitEach extends boolean | undefined> = [CommitEach] extends [true]
  ? { readonly forks: 'refuse' }
  : unknown;

/**
 * `true` if a command, a generator, or an alternative of a union compensates, pivots, or runs once.
 */
export type IsForkSensitive<T> = Carries<T, typeof forkSensitive>;

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
 * carry. A group that needs `forks` does not show that it asks: an undo contains no such group.
 */
export type GroupCommand<B, T> =
  IsForkSensitive<BranchOf<B>> extends true
    ? ForkSensitiveCommand<T>
    : AsksClient<BranchOf<B>> extends true
      ? AskingCommand<T>
      : Command<T>;

type BranchOf<B> = B extends readonly unknown[] ? B[number] : B[keyof B];
