import { step, type Runtime } from '@mcp-saga/core';
import { specOf, type StepSpec } from '@mcp-saga/core/program';
import type { AskSpec } from './step-logic.ts';

/** What answers a question here, as a server step: the author's fallback, or sampling at the host. (W3) */
export function fallbackSpec(spec: AskSpec, runtime: Runtime): StepSpec {
  const run = async (given: Parameters<Parameters<typeof step>[1]>[0]): Promise<unknown> => {
    const { signal, context, idempotencyKey, attempt } = given;
    if (spec.kind === 'sample') return await runtime.sample(spec.params, { signal, context, idempotencyKey });
    const fallback: unknown = spec.kind === 'elicit' ? spec.fallback : undefined;
    if (typeof fallback !== 'function') return fallback;
    return (await fallback({ signal, context, idempotencyKey, attempt })) as unknown;
  };
  return specOf(step('fallback', run)) as StepSpec;
}
