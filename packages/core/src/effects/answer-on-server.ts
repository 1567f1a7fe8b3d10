import { withinGrace } from './run/abort-grace.ts';
import { checkedAnswer, type Acceptance } from './accept-answer.ts';
import type { ElicitSpec, SampleSpec } from '../model/command.ts';
import type { HostSampling, Runtime } from '../model/runtime.ts';
import type { Json } from '../values/json.ts';
import { performed } from './run/run-code.ts';

/**
 * Answers a question here, in the client's stead: with its fallback, or by sampling at the host. It is checked like
 * what a client sends, and stands where the client's bytes do not, since the client does not know it (T10). (W3)
 *
 * @throws whatever the fallback throws, and where the answer does not fit
 */
export async function answerHere(
  spec: ElicitSpec | SampleSpec,
  path: string,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Extract<Acceptance, { entry: unknown }>> {
  const facts = { kind: spec.kind, path, attempt: 1 };
  runtime.observe({ ...facts, type: 'started' });
  try {
    const idempotencyKey = await runtime.idempotencyKey(path, undefined, 'do');
    const given = await givenBy(spec, path, runtime, { context: runtime.context, signal, idempotencyKey });
    // As it would have come over the wire.
    const result = JSON.parse(JSON.stringify(given)) as Json;
    const answer = await checkedAnswer(spec, { result, provenance: 'server' });
    if ('reason' in answer) throw new TypeError(`The answer to '${path}' does not fit: ${answer.reason}`);
    runtime.observe({ ...facts, type: 'succeeded' });
    return { ...answer, entry: { ...answer.entry, type: spec.kind === 'sample' ? 'sampledHere' : 'parsed' } };
  } catch (error) {
    runtime.observe({ ...facts, type: 'failed', error });
    throw error;
  }
}

async function givenBy(
  spec: ElicitSpec | SampleSpec,
  path: string,
  runtime: Runtime,
  step: HostSampling,
): Promise<unknown> {
  if (spec.kind === 'sample') {
    const sampling = Promise.resolve(runtime.sample(spec.params, step));
    return (await withinGrace(`The sample '${path}'`, sampling, runtime)) ?? null;
  }
  const { fallback } = spec;
  const content: unknown =
    typeof fallback === 'function'
      ? await performed(runtime, 'fallback', path, fallback as (step: never) => unknown, {
          ...step,
          attempt: 1,
        })
      : fallback;
  return { action: 'accept', content };
}
