import { encode } from '../../values/codec.ts';
import type { Effect, Spec } from '../parts/effect.ts';
import { ended } from '../parts/entries.ts';
import { performed } from '../parts/run-code.ts';

/** Asks an outside system until it answers. */
export interface PollSpec extends Spec {
  readonly kind: 'poll';
  readonly ask: (context: never) => unknown;
  readonly everyMs: number;
  readonly totalTimeoutMs: number;
  readonly report:
    | string
    | ((facts: { readonly asked: number; readonly elapsedMs: number }) => string)
    | undefined;
}

/** A question to an outside system. Only its last answer is journaled. */
export const poll: Effect<PollSpec> = {
  place: 'server',
  entries: ['polled', 'failed', 'timedOut', 'withdrawn', 'stopped', 'cannot'],
  run: async ({ spec, path, asked }, runtime, signal) => {
    const step = { context: runtime.context, signal, attempt: asked + 1 };
    const answer = await performed(runtime, 'poll', path, spec.ask, step);
    return answer === undefined
      ? { entry: undefined, value: undefined }
      : ended('polled', encode(answer, { where: `Poll '${path}': its answer` }));
  },
  due: (_, since) => since,
  deadline: ({ totalTimeoutMs }, since) => Math.ceil(since + totalTimeoutMs),
  report: ({ report }, facts) => (typeof report === 'function' ? report(facts) : report),
};
