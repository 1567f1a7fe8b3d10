import { ElicitationRefused, SagaAborted, SagaCancelled } from '@mcp-saga/core';
import { isAuthoringError } from '@mcp-saga/core/program';
import { SagaHostError } from '../wire/errors.ts';
import type { HostHooks } from '../model/hooks.ts';
import { whyRefused } from './log-reasons.ts';
import { oneLine, withoutKeys } from './log-path.ts';

/** Where things go that the operator names no hook for: what nobody hears of is found by the users. */
export type DefaultLog = Pick<
  Required<HostHooks>,
  'onError' | 'onWarning' | 'onReject' | 'onIgnoredAnswer' | 'onTurn'
>;

const minute = 60_000;

/** What the console is told of. */
export interface ConsoleLogOptions {
  /** Messages of errors that are not the host's own may hold answers and results: whether they are shown. */
  readonly development: boolean;
  /** Whether `onWarning` tells of questions that are asked otherwise, so that `onIgnoredAnswer` need not. */
  readonly advises: boolean;
  readonly clock: () => number;
}

/** Writes to the console. */
export function consoleLog({ development, advises, clock }: ConsoleLogOptions): DefaultLog {
  const { console } = globalThis;
  const warn = (message: string): void => console.warn(oneLine(`mcp-saga: ${message}`));
  const fail = (message: string): void => console.error(oneLine(`mcp-saga: ${message}`));
  const isTimeForReason = onceAMinute(clock);
  const isTimeForSaga = onceAMinute(clock);
  return {
    onError: (error) => {
      if (development) console.error('mcp-saga:', error);
      else fail(`${outline(error)} Give the host hooks.onError to see it.`);
    },
    onWarning: warn,
    onReject: ({ reason }) => {
      // An attacker shall not fill the log; two servers with different keys shall be seen in it.
      if (!isTimeForReason(reason)) return;
      const why = development ? whyRefused(reason) : undefined;
      warn(
        `a token was refused: ${reason}. ${why === undefined ? '' : `${why} `}Give the host hooks.onReject to count them.`,
      );
    },
    onIgnoredAnswer: ({ saga, stepId, why }) => {
      // The other answers are the client's fault, and it hears of them. This one it can do nothing about.
      if (why !== 'asked otherwise' || advises || !isTimeForSaga(saga)) return;
      warn(
        `'${saga}' asks '${stepId}' otherwise than before, so the answer to it was not used. Either the ` +
          'question is made of the clock or of randomness, read outside now() and random(): then no answer ever ' +
          'counts. Or the code was changed under it. Give the host hooks.onIgnoredAnswer to count them.',
      );
    },
    onTurn: ({ saga, turn, status, error, residue = [] }) => {
      if (status !== 'failed') return;
      for (const { stepId, error: why } of residue) {
        const left = `'${saga}' could not undo '${withoutKeys(stepId)}'`;
        if (why === undefined)
          fail(`${left}: nothing that it knows does. hooks.onSettled gets what is left.`);
        else if (development) console.error(oneLine(`mcp-saga: ${left}:`), why);
        else fail(`${left}. ${outline(why)} hooks.onTurn gets the error.`);
      }
      // To be refused, or cancelled, is an end like another: nothing has gone wrong.
      if (isWanted(error)) return;
      if (development) console.error(oneLine(`mcp-saga: '${saga}' failed in turn ${turn}:`), error);
      else fail(`'${saga}' failed in turn ${turn}. ${outline(error)} hooks.onTurn gets the error.`);
    },
  };
}

/** Whether it is a minute or more since a thing was last said. */
function onceAMinute(clock: () => number): (thing: string) => boolean {
  const said = new Map<string, number>();
  return (thing) => {
    const now = clock();
    const since = now - (said.get(thing) ?? Number.NEGATIVE_INFINITY);
    // A clock that was set back tells nothing of how long it has been.
    if (since >= 0 && since < minute) return false;
    said.set(thing, now);
    return true;
  };
}

/** Whether a saga ended as somebody wanted it to: its user, its client or its author. */
export function isWanted(error: unknown): boolean {
  return (
    error instanceof ElicitationRefused || error instanceof SagaCancelled || error instanceof SagaAborted
  );
}

/**
 * Describes an error in a sentence. The message is shown only if it is the host's own, or tells the author of a mistake in the
 * code of a saga: any other message may hold answers and results.
 */
export function outline(error: unknown): string {
  // What its cause says, where that is the host's own as well, is not for the client.
  if (error instanceof SagaHostError) {
    return error.cause instanceof SagaHostError ? `${error.message} ${error.cause.message}` : error.message;
  }
  if (!(error instanceof Error)) return 'Something was thrown.';
  const { code, stepId } = error as { readonly code?: unknown; readonly stepId?: unknown };
  const at = typeof stepId === 'string' ? ` at step '${withoutKeys(stepId)}'` : '';
  const isMistake: boolean = isAuthoringError(error);
  if (isMistake) return `${error.message}${/[.!?]$/.test(error.message) ? '' : '.'}`;
  return `${error.constructor.name}${typeof code === 'string' && /^\w{1,64}$/.test(code) ? ` (${code})` : ''}${at}.`;
}
