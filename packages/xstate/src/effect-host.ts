import type { StepSpec } from '@mcp-saga/core/program';
import type { LiveActor } from './adapter.ts';

/** Runs the effects of the actors of one system. */
export interface EffectHost {
  begin(actor: LiveActor, spec: StepSpec, input: unknown): void;
}

const hosts = /* @__PURE__ */ new WeakMap<object, EffectHost>();

/** Lets a host run the effects of a system from now on. */
export function hostEffects(system: object, host: EffectHost): void {
  hosts.set(system, host);
}

/** Who runs the effects of a system; nobody does under a live actor. */
export function effectHostOf(system: object): EffectHost | undefined {
  return hosts.get(system);
}
