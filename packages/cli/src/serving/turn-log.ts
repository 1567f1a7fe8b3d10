import type { HostHooks, TurnFacts } from '@mcp-saga/server';
import { isUnknownOutcome } from '@mcp-saga/server/internal';
import type { TurnFeed } from '../studio/turn-feed.ts';

/** Reports an event: an object for programs, and a text for people. */
export type Say = (
  event: { readonly type: string; readonly [fact: string]: unknown },
  text: string,
) => void;

/**
 * Adds hooks that report each turn, and events without a hook of the server. Adds errors, which
 * telemetry omits, to the feed.
 */
export function withTurnLog(hooks: HostHooks = {}, say: Say, feed: TurnFeed): HostHooks {
  const steps = new Map<string, Map<string, string>>();
  const report = (
    turn: Omit<TurnFacts, 'status'>,
    status: string,
    facts: object,
    ...more: string[]
  ) => {
    const ran = [...(steps.get(turn.sagaId) ?? [])];
    steps.delete(turn.sagaId);
    const texts = ran.map(([path, type]) =>
      type === 'unknown' ? `outcome of ${path} unknown` : `${path} ${type}`,
    );
    const parts = [
      `${turn.saga} ${turn.sagaId.slice(0, 6)}  turn ${turn.turn}  ${status}`,
      texts.join(', '),
      turn.tokenBytes === 0 ? '' : `token of ${turn.tokenBytes} bytes`,
      `${Math.round(turn.durationMs)} ms`,
      ...more,
    ];
    const event = {
      type: 'turn',
      ...turn,
      steps: ran.map(([path, type]) => ({ path, type })),
      ...facts,
    };
    say(event, parts.filter((part) => part !== '').join('  '));
  };
  // No hook reports a turn without a response.
  feed.onRejected = ({ saga, sagaId }, { turn, status, tokenBytes, errorType, durationMs = 0 }) => {
    const end =
      errorType === 'turn_aborted' ? 'request interrupted' : `request failed: ${errorType}`;
    report({ saga, sagaId, turn, tokenBytes, durationMs }, end, { status, errorType });
  };
  return {
    onReject: ({ reason }) => say({ type: 'rejected', reason }, `rejected a token: ${reason}`),
    onWarning: (message) => say({ type: 'warning', message }, `warning: ${message}`),
    onError: (error) => sayError(say, error),
    ...hooks,
    onStep: (event) => {
      const ofSaga = steps.get(event.sagaId) ?? new Map<string, string>();
      const isUnknown = event.type === 'failed' && isUnknownOutcome(event.error);
      steps.set(event.sagaId, ofSaga.set(event.path, isUnknown ? 'unknown' : event.type));
      hooks.onStep?.(event);
    },
    onTurn: (facts) => {
      const { error, uncompensated = [], ...turn } = facts;
      const left = uncompensated.map(({ stepId }) => stepId);
      const failure = error === undefined ? {} : { error: messageOf(error), uncompensated: left };
      feed.explain(failure);
      const undone = left.length === 0 ? '' : `not undone: ${left.join(', ')}`;
      report(turn, turn.status, failure, undone, error === undefined ? '' : traceOf(error));
      hooks.onTurn?.(facts);
    },
  };
}

/** Reports an error outside of a turn. */
export function sayError(say: Say, error: unknown): void {
  say({ type: 'error', message: messageOf(error) }, `error: ${traceOf(error)}`);
}

/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Errors of the library have a code, and need no stack. */
function traceOf(error: unknown): string {
  const { code, cause, stack } = Object(error) as Record<'code' | 'cause' | 'stack', unknown>;
  const own = typeof code === 'string' || typeof stack !== 'string' ? messageOf(error) : stack;
  const text = own.replaceAll('\n', '\n    ');
  return cause === undefined ? text : `${text}\n    ${traceOf(cause)}`;
}
