import { createSagaHost, type SagaHost, type SagaTelemetry, type SagaTurn } from '@mcp-saga/server';
import { machineStories } from './machines.ts';
import { stories, refund, type GoldenStory } from './sagas.ts';

/** All stories, by name. */
export const allStories: Readonly<Record<string, GoldenStory>> = { ...stories, ...machineStories };

/** A file of golden tokens. Each version of a format of tokens has a set of files. */
export interface GoldenFile {
  /** Version of the engine that sealed the tokens. */
  readonly engine: number;
  /** A published test key, which protects nothing. */
  readonly key: string;
  /** Time of sealing, in milliseconds since the epoch. */
  readonly sealedAt: number;
  /** Trace parent in the tokens. Default: none. */
  readonly trace?: string;
  readonly tokens: Readonly<Record<string, { readonly token: string; readonly result: unknown }>>;
}

/** Trace context in golden tokens, with the size of a `traceparent` and a `tracestate`. */
export const goldenTrace = `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01 golden=1`;

/** Telemetry that adds that trace context to every saga. */
export const tracing: SagaTelemetry = {
  turn: () => ({
    parent: goldenTrace,
    within: (work) => work(),
    event: () => undefined,
    step: () => ({ within: (work) => work(), end: () => undefined }),
    end: () => undefined,
  }),
  refused: () => undefined,
};

/** Creates a host that opens golden tokens at a given time. */
export function goldenHost(
  key: string,
  clock: () => number,
  options: { readonly telemetry?: SagaTelemetry } = {},
): SagaHost {
  const sagas = [...new Set(Object.values(allStories).map((story) => story.saga))];
  const hooks = { onWarning: () => undefined };
  return createSagaHost({
    sagas,
    keys: key,
    name: 'golden',
    testing: { environment: 'test', clock },
    compensators: [refund],
    hooks,
    limits: { maxHold: 0 },
    ...options,
  });
}

/** Continues a story from its token to its end, and returns the result. */
export async function finish(host: SagaHost, story: GoldenStory, token: string): Promise<unknown> {
  let turn: SagaTurn | undefined;
  for (const answers of story.after) {
    turn = await host.resume(turn?.status === 'suspended' ? turn.token : token, answers);
  }
  if (turn?.status === 'completed') return turn.result;
  if (turn?.status === 'failed')
    return {
      error: String(turn.error),
      compensated: turn.compensated,
      uncompensated: turn.uncompensated,
    };
  throw new Error('The story did not come to its end.');
}
