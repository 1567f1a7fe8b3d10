import type { HostHooks } from '@mcp-saga/server';
import type { TurnFeed } from '../studio/turn-feed.ts';

/** Reports an event: an object for programs, and a text for people. */
export type Say = (event: { readonly type: string; readonly [fact: string]: unknown }, text: string) => void;

/** Adds hooks that report each turn, and events without a hook of the server. Adds errors, which telemetry omits, to the feed. */
export function withTurnLog(hooks: HostHooks = {}, say: Say, feed: TurnFeed): HostHooks {
  const steps = new Map<string, Map<string, string>>();
  return {
    onReject: ({ reason }) => say({ type: 'rejected', reason }, `rejected a token: ${reason}`),
    onWarning: (message) => say({ type: 'warning', message }, `warning: ${message}`),
    onError: (error) => sayError(say, error),
    ...hooks,
    onStep: (event) => {
      const ofSaga = steps.get(event.sagaId) ?? new Map<string, string>();
      steps.set(event.sagaId, ofSaga.set(event.path, event.type));
      hooks.onStep?.(event);
    },
    onTurn: (facts) => {
      const { error, uncompensated = [], ...turn } = facts;
      const ran = [...(steps.get(turn.sagaId) ?? [])];
      steps.delete(turn.sagaId);
      const left = uncompensated.map(({ stepId }) => stepId);
      const failure = error === undefined ? {} : { error: messageOf(error), uncompensated: left };
      feed.explain(failure);
      say(
        { type: 'turn', ...turn, steps: ran.map(([path, type]) => ({ path, type })), ...failure },
        [
          `${turn.saga} ${turn.sagaId.slice(0, 6)}  turn ${turn.turn}  ${turn.status}`,
          ran.map(([path, type]) => `${path} ${type}`).join(', '),
          turn.tokenBytes === 0 ? '' : `token of ${turn.tokenBytes} bytes`,
          `${Math.round(turn.durationMs)} ms`,
          left.length === 0 ? '' : `not undone: ${left.join(', ')}`,
          error === undefined ? '' : traceOf(error),
        ]
          .filter((part) => part !== '')
          .join('  '),
      );
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
