export type {
  SeenDecision,
  SeenEvent,
  SeenRejection,
  SeenSaga,
  SeenTurn,
  StudioState,
} from './studio/seen-turns.ts';
import { optionError, rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import type { SagaTelemetry } from '@mcp-saga/server';
import { answerStudio } from './studio/answer-studio.ts';
import { TurnFeed } from './studio/turn-feed.ts';

/** Options of {@link createStudio}. */
export interface StudioOptions {
  /** Maximum number of sagas in memory. A newer saga replaces the oldest one. @default 100 */
  readonly maxSagas?: number;
}

const optionNames: NamesOf<StudioOptions> = { maxSagas: true };

/** Read-only studio of a process: the option `studio` of its hosts. */
export interface Studio {
  /**
   * Observes the turns of a host, which calls it. All facts also reach `inner`, such as
   * `openTelemetry()`.
   */
  telemetry(inner?: SagaTelemetry): SagaTelemetry;
  /**
   * Answers a request for the page, below any path, like `studio` of a host. Every visitor sees all
   * sagas of the process: check the operator before. Responds with 405 to all methods but GET and
   * HEAD.
   */
  fetch(request: Request): Promise<Response>;
}

/**
 * Creates a page for operators that shows the turns of this process live: steps, attempts,
 * questions, outcomes, token sizes, and kinds of errors. Shows no arguments, answers, results,
 * error messages, tokens, or keys, and cannot act. Requires a file system: Node, Bun, or Deno.
 * @throws TypeError for an unknown option, and RangeError if `maxSagas` is not a positive integer
 * @example
 * ```ts
 * import { createSagaHost, saga, step } from '@mcp-saga/server';
 *
 * const greet = saga({ name: 'greet', version: '1' }, function* () {
 *   return yield* step('greet', () => 'Hello');
 * });
 * const host = createSagaHost({ sagas: [greet], name: 'greeter', keys, studio: createStudio() });
 *
 * // After a check of the operator.
 * const answer = (request: Request): Promise<Response> => host.studio(request);
 * console.log(await answer(new Request('https://greeter.example/ops/studio/')));
 * ```
 */
export function createStudio(options: StudioOptions = {}): Studio {
  rejectUnknownOption('createStudio', options, optionNames);
  const { maxSagas = 100 } = options;
  if (!Number.isInteger(maxSagas) || maxSagas < 1)
    throw optionError('maxSagas must be a positive integer.', { type: RangeError });
  const feed = new TurnFeed(maxSagas);
  return {
    telemetry: (inner) => feed.telemetry(inner),
    fetch: (request) => answerStudio(request, (sagaId) => feed.state(sagaId)),
  };
}
