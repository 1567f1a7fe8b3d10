import { OutcomeUnknown } from '../../values/errors.ts';
import type { Runtime } from '../../model/runtime.ts';
import { offAbort, onAbort } from './abort-listeners.ts';

/** Time for running code to settle after the abort of its request (ms). The request then ends without the code. */
export const abortGraceMs = 5_000;

/** Waits for `what` at most `abortGraceMs` after the abort of the request. Throws OutcomeUnknown if it did not settle. */
export async function withinGrace(
  what: string,
  working: PromiseLike<unknown>,
  { signal, sleep }: Pick<Runtime, 'signal' | 'sleep'>,
): Promise<unknown> {
  let settled: AbortController | undefined;
  let begin!: () => void;
  const timedOut = new Promise<never>((_, reject) => {
    begin = () => {
      settled = new AbortController();
      const message = `${what} did not settle within ${abortGraceMs} ms of the abort of its request.`;
      void sleep(abortGraceMs, settled.signal).then(() => reject(new OutcomeUnknown(message)));
    };
  });
  if (signal.aborted) begin();
  else onAbort(signal, begin);
  try {
    return await Promise.race([working, timedOut]);
  } finally {
    offAbort(signal, begin);
    settled?.abort();
  }
}
