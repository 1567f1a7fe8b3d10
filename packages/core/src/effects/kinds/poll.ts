import { encode } from '../../values/codec.ts';
import type { Effect, Spec } from '../parts/effect.ts';
import { ended } from '../parts/entries.ts';
import { performed } from '../parts/run-code.ts';

/** Asks an outside system until it answers. */
export interface PollSpec extends Spec {
  readonly kind: 'poll';
  readonly ask: (context: never) => unknown;
  readonly every: number;
  readonly timeout: number;
  readonly report:
    | string
    | ((facts: { readonly asked: number; readonly elapsed: number }) => string)
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
  deadline: ({ timeout }, since) => Math.ceil(since + timeout),
  report: ({ report }, facts) => (typeof report === 'function' ? report(facts) : report),
};
