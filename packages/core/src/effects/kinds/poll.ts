import { encode } from '../../values/codec.ts';
import { present } from '../../values/json.ts';
import type { Effect, Spec } from '../parts/effect.ts';
import { ended } from '../parts/effect-entries.ts';
import { performed } from '../parts/run-code.ts';

export interface PollSpec extends Spec {
  readonly kind: 'poll';
  readonly ask: (context: never) => unknown;
  readonly everyMs: number;
  /** For answers from outside: asks in each turn, also before the next question is due. */
  readonly outside?: {
    /**
     * Milliseconds from the first question to the end of the last of several polls. The token lives
     * as long.
     */
    readonly lastsMs: number;
  };
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
  run: async ({ spec, path, asked, since = 0 }, runtime, signal) => {
    const endsAt = spec.outside && since + spec.totalTimeoutMs;
    const step = {
      services: runtime.effects.services,
      user: runtime.request.user,
      signal,
      attempt: asked + 1,
      ...present({ endsAt }),
    };
    const answer = await performed(runtime, 'poll', path, spec.ask, step);
    return answer === undefined
      ? { entry: undefined, value: undefined }
      : ended('polled', encode(answer, { where: `Poll '${path}': its answer` }));
  },
  due: (_, since) => since,
  deadline: ({ totalTimeoutMs }, since) => Math.ceil(since + totalTimeoutMs),
  report: ({ report }, facts) => (typeof report === 'function' ? report(facts) : report),
};
