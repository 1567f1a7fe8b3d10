/**
 * Effects of any kind. Each kind is one file in `kinds`, with its specification, and an `Effect`
 * that says how it is asked, run, or read. It has one line in `table.ts`, and a name in the object
 * below. The functions here know no kind: they look the effect up.
 *
 * A command carries its specification, and no result. `outcomeOf` makes what the body receives
 * from the entry of the journal, the same in the first run and in each replay. `fingerprintOf` is
 * the part of a command that must not change between releases. `end-task.ts` checks the answer of
 * a client and runs code of the server, and both give an entry.
 *
 * - An answer is parsed by its schema once. A replay reads what was recorded.
 * - Errors name paths and fields, never values.
 */
import type { ClientStep } from '../model/client-step.ts';
import type { ControlSpec } from '../model/command.ts';
import type { EntryType } from '../journal/entry-types.ts';
import {
  ClientCannot,
  ElicitationRefused,
  StepError,
  StepTimedOut,
  type ClientNeed,
  type StepErrorData,
} from '../values/errors.ts';
import { fingerprint, fingerprintOfPart } from '../values/fingerprint.ts';
import type { Effect } from './parts/effect.ts';

import type * as table from './table.ts';
import {
  call,
  checkpoint,
  elicit,
  elicitUrl,
  info,
  now,
  open,
  poll,
  random,
  roots,
  sample,
  sleep,
  step,
  stepKey,
  uuid,
} from './table.ts';

type SpecOf<E> = E extends Effect<infer S> ? S : never;

export type EffectSpec = SpecOf<(typeof table)[keyof typeof table]>;

/** Everything that a saga can yield. */
export type CommandSpec = EffectSpec | ControlSpec;

// A plain object: a lookup in a module namespace takes several times as long. It names the effects,
// because bundlers keep whatever a spread namespace refers to.
const effects: { readonly [K in EffectSpec['kind']]: Effect<never> } = {
  call,
  checkpoint,
  elicit,
  elicitUrl,
  info,
  now,
  open,
  poll,
  random,
  roots,
  sample,
  sleep,
  step,
  stepKey,
  uuid,
};

/** `true` for an effect, `false` for a command that steers the body. */
export function hasDescriptor(spec: CommandSpec): spec is EffectSpec {
  return (effects as { readonly [kind: string]: unknown })[spec.kind] !== undefined;
}

export function effectOf<S extends EffectSpec>(spec: S): Effect<S> {
  return effects[spec.kind] as Effect<S>;
}

/** `true` if a command waits for the client, not for the server. */
export function isAskedOfClient(kind: EffectSpec['kind']): boolean {
  return effects[kind].place === 'client';
}

/** `true` if the client is asked something. */
export function isQuestion(spec: EffectSpec | undefined): boolean {
  return spec !== undefined && effectOf(spec).question !== undefined;
}

/** `true` if a command counts as a server step when it runs on the server. */
export function isEffect({ spec }: { readonly spec: EffectSpec }): boolean {
  return effects[spec.kind].place !== undefined;
}

/**
 * `true` for a command that waits for the client, the clock, or other people. The delay of a retry
 * is no such wait: it belongs to a step.
 */
export function mayWait({ kind }: EffectSpec): boolean {
  const { place, due } = effects[kind];
  return place === 'client' || due !== undefined || kind === 'open';
}

/** `true` for a step without an effect, which may run again, and which nothing has to undo. */
export function onlyReads(spec: EffectSpec): boolean {
  return spec.kind === 'step' && spec.reads;
}

/** The capability that a client needs for a command. `wait` for a command that takes time. */
export function needOf(spec: EffectSpec): ClientNeed | 'wait' {
  return effectOf(spec).question?.need(spec) ?? 'wait';
}

/**
 * MCP request of a question, or undefined. Throws AuthoringError with the path if MCP has no such
 * question.
 */
export function toClientStep(spec: EffectSpec, stepId: string): ClientStep | undefined {
  const { question } = effectOf(spec);
  return question && { type: question.type, stepId, params: question.params(spec) };
}

export function fingerprintOf(spec: EffectSpec): number {
  if (spec.kind === 'step' && spec.keep)
    return spec.input === undefined ? 0 : fingerprintOfPart('step', spec.input);
  if (spec.kind === 'elicit') return fingerprintOfPart('elicit', spec.message);
  if (spec.kind === 'call') return fingerprintOfPart('call', spec.args);
  const request = effectOf(spec).request?.(spec) ?? [];
  return request.length === 0 ? 0 : fingerprint(spec.kind, ...request);
}

/** Recorded outcome as the body receives it: a value, or an error to throw. */
export interface BodyOutcome {
  readonly failed: boolean;
  readonly value: unknown;
}

/**
 * Converts a journal entry to the outcome for the body: the same in the first run and on every
 * replay.
 */
export function outcomeOf(
  spec: EffectSpec,
  path: string,
  type: EntryType,
  value: unknown,
): BodyOutcome {
  const own = effectOf(spec).toValue?.(spec, type, value);
  const error = own === undefined ? errorOf(spec, path, type, value) : undefined;
  return { failed: error !== undefined, value: error ?? own ?? value };
}

function errorOf(
  spec: EffectSpec,
  path: string,
  type: EntryType,
  value: unknown,
): Error | undefined {
  if (type === 'failed' || type === 'unknown' || type === 'clientError')
    return new StepError(path, value as StepErrorData);
  if (type === 'timedOut') return new StepTimedOut(path);
  if (type === 'cannot') return new ClientCannot(path, needOf(spec));
  if (type === 'declined') return new ElicitationRefused(path, 'decline');
  return type === 'dismissed' ? new ElicitationRefused(path, 'cancel') : undefined;
}
