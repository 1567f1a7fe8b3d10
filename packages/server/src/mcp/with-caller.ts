import type { Caller } from '../model/caller.ts';
import { limitedProgress } from './limited-progress.ts';
import { toCaller, type McpServerLike, type RequestContextLike } from './sdk.ts';

/** Answers a request for who sent it. What is told of its progress comes before the answer, and none after. (W5) */
export async function withCaller<T>(
  server: McpServerLike,
  context: RequestContextLike,
  options: { readonly stepContext: unknown; readonly clock: () => number },
  answer: (caller: Caller) => Promise<T>,
): Promise<T> {
  const caller = toCaller(server, context, options.stepContext);
  if (caller.progress === undefined) return await answer(caller);
  const progress = limitedProgress(caller.progress, options.clock);
  try {
    return await answer({
      ...caller,
      progress: (told) => progress.tell(told),
      flushProgress: () => progress.flush(),
    });
  } finally {
    progress.end();
  }
}
