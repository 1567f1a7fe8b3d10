import { ElicitationRefused, SagaAborted, SagaCancelled } from '@mcp-saga/core';
import { SagaHostError } from './errors.ts';
import type { Rejection, TurnFacts } from './hooks.ts';

/** Where things go that the operator names no hook for: what nobody hears of is found by the users. */
export interface DefaultLog {
  error(error: unknown): void;
  warning(message: string): void;
  rejection(rejection: Rejection): void;
  turn(turn: TurnFacts): void;
}

const minute = 60_000;

/**
 * Writes to the console. Messages of errors that are not the host's own may hold answers and results: they are shown in
 * development only.
 */
export function consoleLog(development: boolean, clock: () => number): DefaultLog {
  const { console } = globalThis;
  const said = new Map<string, number>();
  return {
    error: (error) => {
      if (development) console.error('mcp-saga:', error);
      else console.error(`mcp-saga: ${outline(error)} Give the host hooks.onError to see it.`);
    },
    warning: (message) => console.warn(`mcp-saga: ${message}`),
    rejection: ({ reason }) => {
      // An attacker shall not fill the log; two servers with different keys shall be seen in it.
      const now = clock();
      if (now < (said.get(reason) ?? 0) + minute) return;
      said.set(reason, now);
      console.warn(`mcp-saga: a token was refused: ${reason}. Give the host hooks.onReject to count them.`);
    },
    turn: ({ saga, turn, status, error }) => {
      // To be refused, or cancelled, is an end like another: nothing has gone wrong.
      if (status !== 'failed' || isWanted(error)) return;
      if (development) console.error(`mcp-saga: '${saga}' failed in turn ${turn}:`, error);
      else
        console.error(
          `mcp-saga: '${saga}' failed in turn ${turn}. ${outline(error)} hooks.onTurn gets the error.`,
        );
    },
  };
}

/** Whether a saga ended as somebody wanted it to: its user, its client or its author. */
export function isWanted(error: unknown): boolean {
  return (
    error instanceof ElicitationRefused || error instanceof SagaCancelled || error instanceof SagaAborted
  );
}

function outline(error: unknown): string {
  if (error instanceof SagaHostError) return error.message;
  if (!(error instanceof Error)) return 'Something was thrown.';
  const { code, stepId } = error as { readonly code?: unknown; readonly stepId?: unknown };
  const at = typeof stepId === 'string' ? ` at step '${stepId}'` : '';
  return `${error.constructor.name}${typeof code === 'string' ? ` (${code})` : ''}${at}.`;
}
