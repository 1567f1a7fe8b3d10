import type { forkSensitive } from '../../model/command.ts';

/**
 * Requires `forks` in the options of a saga whose body yields a command that compensates, pivots,
 * or runs once.
 */
export type NeedsForks<Y> =
  IsForkSensitive<Y> extends true ? { readonly forks: 'refuse' | 'accept' } : unknown;

/**
 * `true` if a command, a generator, or an alternative of a union compensates, pivots, or runs once.
 */
export type IsForkSensitive<T> = [0] extends [1 & T]
  ? false
  : true extends (
        T extends { readonly [forkSensitive]: unknown }
          ? true
          : T extends Generator<infer Y>
            ? IsForkSensitive<Y>
            : false
      )
    ? true
    : false;
