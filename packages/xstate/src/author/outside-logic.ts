import type { ActorLogic } from 'xstate';
import type { Steps } from '@mcp-saga/core';
import {
  stepTransitions,
  type OfInput,
  type StepEndEvent,
  type StepSnapshot,
} from './step-logic.ts';

const outsideBrand: unique symbol = Symbol.for('mcp-saga.xstate.outside');

/** Wait for answers from outside. */
export interface OutsideWait<I> {
  readonly kind: 'approval' | 'waitFor';
  /**
   * Makes the steps of a generator saga that waits. Throws AuthoringError for an invalid option.
   */
  readonly toSteps: (id: string, input: I) => Steps<unknown>;
}

/**
 * Wait for answers from outside as actor logic for `setup({ actors })`. Under a live actor, the
 * wait never ends.
 */
export interface OutsideLogic<O, I> extends ActorLogic<StepSnapshot<O, I>, StepEndEvent, I> {
  readonly [outsideBrand]: OutsideWait<I>;
}

export function outsideLogic<O, I>(wait: OutsideWait<I>): OutsideLogic<O, I> {
  return { [outsideBrand]: wait, ...stepTransitions<O, I>() };
}

/** Returns the wait of an actor logic; undefined for other logics. */
export function outsideOf(logic: object): OutsideWait<unknown> | undefined {
  return (logic as { readonly [outsideBrand]?: OutsideWait<unknown> })[outsideBrand];
}

/** Options that may be functions of the invoke's `input`. */
export type OfInputs<T, I> = { readonly [K in keyof T]: OfInput<Exclude<T[K], undefined>, I> };

/** Names of options that are functions in a generator saga, too. */
const codes = new Set(['schema', 'deliver', 'register']);

/**
 * Replaces functions of `input` by their values; without a step, by placeholders, for a check of
 * all other options.
 */
export function optionsFor<O extends object>(
  options: { readonly [K in keyof O]?: unknown },
  step: { readonly input: unknown } | undefined,
  placeholders: Partial<O> = {},
): O {
  const given = Object.entries(Object(options) as object).map(
    ([name, option]: [string, unknown]) => {
      if (typeof option !== 'function' || codes.has(name)) return [name, option];
      if (step !== undefined) return [name, (option as (given: object) => unknown)(step)];
      return [name, (placeholders as { readonly [option: string]: unknown })[name]];
    },
  );
  return Object.fromEntries(given) as O;
}
