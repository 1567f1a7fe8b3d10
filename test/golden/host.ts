import { createSagaHost, type SagaHost, type SagaTelemetry, type SagaTurn } from '@mcp-saga/server';
import { machineStories } from './machines.ts';
import { stories, refund, type GoldenStory } from './sagas.ts';

/** Every story, by name. */
export const allStories: Readonly<Record<string, GoldenStory>> = { ...stories, ...machineStories };

/** A file of golden tokens: one for each format of tokens and each version of the engine. */
export interface GoldenFile {
  /** The release that sealed them. */
  readonly release: string;
  readonly engine: number;
  /** One of the published test keys: it protects nothing. */
  readonly key: string;
  /** When they were sealed, in milliseconds since the epoch. */
  readonly sealedAt: number;
  /** What its tokens carry of a trace. Default: nothing. */
  readonly trace?: string;
  readonly tokens: Readonly<Record<string, { readonly token: string; readonly result: unknown }>>;
}

/** What golden tokens carry of a trace: as long as a `traceparent` with a `tracestate` is. */
export const goldenTrace = `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01 golden=1`;

/** Telemetry that has every saga carry that trace. */
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

/** A host that opens golden tokens, at a time of its own. */
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
    audience: 'golden',
    testing: { environment: 'test', clock },
    compensators: [refund],
    hooks,
    limits: { maxHoldMs: 0 },
    ...options,
  });
}

/** Finishes a story from its token, and gives what comes out of it. */
export async function finish(host: SagaHost, story: GoldenStory, token: string): Promise<unknown> {
  let turn: SagaTurn | undefined;
  for (const answers of story.after) {
    // oxlint-disable-next-line no-await-in-loop -- one turn after the other
    turn = await host.resume(turn?.status === 'suspended' ? turn.token : token, answers);
  }
  if (turn?.status === 'completed') return turn.result;
  if (turn?.status === 'failed')
    return { error: String(turn.error), compensated: turn.compensated, residue: turn.residue };
  throw new Error('The story did not come to its end.');
}
