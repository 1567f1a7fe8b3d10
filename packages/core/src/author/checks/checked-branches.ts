import type { Command, Steps } from '../../model/command.ts';

/** Checks each branch of a group: the type of a wrong branch becomes the error text. */
export type CheckedBranches<B> = { readonly [K in keyof B]: CheckedBranch<Required<B>[K]> };

/** Checks a branch of a group. */
export type CheckedBranch<T> = unknown extends T
  ? unknown
  : // In this order for type parameters: see CheckedResult.
    'refused' extends (
        [Exclude<T, Command<unknown> | Steps<unknown>>] extends [never] ? never : 'refused'
      )
    ? T extends (...args: never) => Generator
      ? ['Call the helper, without yield*: helper(…)', T]
      : ['A branch is a command, or a helper that is called, not', T]
    : unknown;
