import type { ClientStep } from '../model/client-step.ts';
import type { ControlSpec } from '../model/command.ts';
import type { ClientNeed } from '../values/errors.ts';
import type { Effect } from './parts/effect.ts';
import * as table from './table.ts';

type SpecOf<E> = E extends Effect<infer S> ? S : never;

/** The specifications of all effects. */
export type EffectSpec = SpecOf<(typeof table)[keyof typeof table]>;

/** Everything that a saga can yield. */
export type CommandSpec = EffectSpec | ControlSpec;

// A plain object: a lookup in a module namespace takes several times as long.
const effects: { readonly [K in EffectSpec['kind']]: Effect<never> } = { ...table };

/** `true` for an effect, `false` for a command that steers the body. */
export function hasDescriptor(spec: CommandSpec): spec is EffectSpec {
  return spec.kind in effects;
}

/** The descriptor of an effect. */
export function effectOf<S extends EffectSpec>(spec: S): Effect<S> {
  return effects[spec.kind] as Effect<S>;
}

/** `true` if a command waits for the client, instead of something that runs on the server. */
export function isAskedOfClient(kind: EffectSpec['kind']): boolean {
  return effects[kind].place === 'client';
}

/** `true` if a command counts as a server step when it runs on the server. */
export function isEffect({ spec }: { readonly spec: EffectSpec }): boolean {
  return effects[spec.kind].place !== undefined;
}

/** The capability that a client needs for a command. `wait` for a command that takes time. */
export function needOf(spec: EffectSpec): ClientNeed | 'wait' {
  return effectOf(spec).question?.need ?? 'wait';
}

/**
 * The MCP request of a command. Undefined if the command is no question.
 *
 * @throws TypeError if MCP cannot express the request. The error names the path
 */
export function toClientStep(spec: EffectSpec, stepId: string): ClientStep | undefined {
  const { question } = effectOf(spec);
  return question && { type: question.type, stepId, params: question.params(spec) };
}
