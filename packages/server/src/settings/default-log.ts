import { ElicitationRefused, ReplayMismatch, SagaAborted, SagaCancelled } from '@mcp-saga/core';
import {
  changedQuestion,
  errorLink,
  isAuthoringError,
  linkOf,
  withoutLink,
  withoutKeys,
} from '@mcp-saga/core/program';
import { lineForPeople } from '@mcp-saga/core/shared';
import { SagaHostError } from '../wire/errors.ts';
import { moreMayHaveRun, splitUncompensated } from '../wire/interrupted-turn.ts';
import type { HostHooks } from '../model/hooks.ts';
import { SealError, type RefusalReason } from '@mcp-saga/seal';

/** Hooks with a default: without a hook, events go to the console. */
export type DefaultLog = Pick<
  Required<HostHooks>,
  'onError' | 'onWarning' | 'onReject' | 'onIgnoredAnswer' | 'onTurn'
>;

const minute = 60_000;

/** Options of the console log. */
export interface ConsoleLogOptions {
  /** Shows full errors, which may contain answers and results. */
  readonly development: boolean;
  /** `true` if `onWarning` reports changed questions, so that `onIgnoredAnswer` need not. */
  readonly advises: boolean;
  readonly clock: () => number;
}

/** Creates hooks that write to the console. */
export function consoleLog({ development, advises, clock }: ConsoleLogOptions): DefaultLog {
  const { console } = globalThis;
  const warn = (message: string): void => console.warn(lineForPeople(`mcp-saga: ${message}`));
  const fail = (message: string): void => console.error(lineForPeople(`mcp-saga: ${message}`));
  const report = (what: string, cause: unknown): void => {
    if (development)
      console.error(lineForPeople(`mcp-saga: ${what}:`), cause, ...missingReference(cause));
    else fail(`${what}. ${outline(cause)} hooks.onTurn gets the error.${references(cause)}`);
  };
  const isTimeForReason = onceAMinute(clock);
  const isTimeForSaga = onceAMinute(clock);
  return {
    onError: (error) => {
      if (development) console.error('mcp-saga:', error, ...missingReference(error));
      else fail(`${outline(error)} Set hooks.onError to receive the error.${references(error)}`);
    },
    onWarning: warn,
    onReject: ({ reason }) => {
      // An attacker must not fill the log, but a server with other keys must show in it.
      if (!isTimeForReason(reason)) return;
      const isKnown = Object.hasOwn(reasons, reason);
      const cause = isKnown && development ? ` ${reasons[reason as RefusalReason]}` : '';
      const advice = isKnown && !development ? inDevelopment('cause') : '';
      warn(
        `A token was rejected: ${reason}.${cause} Set hooks.onReject to count rejections.${advice}`,
      );
    },
    onIgnoredAnswer: ({ saga, stepId, why }) => {
      // The client sees the other reasons itself.
      if (why !== 'asked otherwise' || advises || !isTimeForSaga(saga)) return;
      // The operator of a server in production learns what happened. Advice is for the author.
      warn(changedQuestion(saga, stepId));
    },
    onTurn: ({ saga, sagaId, turn, status, error, uncompensated = [] }) => {
      if (status !== 'failed') return;
      const id = `(saga ID ${sagaId})`;
      const { steps, turns } = splitUncompensated(uncompensated);
      for (const interrupted of turns)
        fail(
          `'${saga}' failed ${id}. ${moreMayHaveRun(interrupted)} hooks.onSettled gets uncompensated steps.`,
        );
      for (const { stepId, error: why } of steps) {
        const what = `'${saga}' could not undo '${withoutKeys(stepId)}' ${id}`;
        if (why === undefined)
          fail(`${what}: no compensation is known. hooks.onSettled gets uncompensated steps.`);
        else report(what, why);
      }
      // A refusal or cancellation is a normal end.
      if (!isWanted(error)) report(`'${saga}' failed in turn ${turn} ${id}`, error);
    },
  };
}

function inDevelopment(hidden: 'message' | 'cause'): string {
  return ` With NODE_ENV=development, the log shows the ${hidden}.`;
}

/** Refers to the hidden text of an error, and to its documentation. */
function references(error: unknown): string {
  const links = reference(error).map((link) => ` ${link}`);
  if (!(error instanceof SagaHostError))
    return (isAuthoringError(error) ? '' : inDevelopment('message')) + links.join('');
  const isHidden = error.cause !== undefined && !(error.cause instanceof SagaHostError);
  return (isHidden ? inDevelopment('cause') : '') + links.join('');
}

/** Refers to the documentation of an error of this library. */
function reference(error: unknown): readonly string[] {
  const isOwn =
    error instanceof SagaHostError ||
    error instanceof SealError ||
    error instanceof ReplayMismatch ||
    isAuthoringError(error);
  if (!isOwn) return [];
  const { code, message } = error as { readonly code?: unknown; readonly message: string };
  const link = linkOf(message) ?? (typeof code === 'string' ? errorLink(code) : undefined);
  return link === undefined ? [] : [`See ${link}`];
}

/** The same, for an error that is shown with its message, which may contain the reference. */
function missingReference(error: unknown): readonly string[] {
  return reference(error).filter((link) => !(error as Error).message.endsWith(link));
}

/** Limits a message to one per minute and key. */
export function onceAMinute(clock: () => number): (thing: string) => boolean {
  const said = new Map<string, number>();
  return (thing) => {
    const now = clock();
    const since = now - (said.get(thing) ?? Number.NEGATIVE_INFINITY);
    // The clock may have been set back.
    if (since >= 0 && since < minute) return false;
    said.set(thing, now);
    return true;
  };
}

/** `true` if the user, the client, or the author ended the saga on purpose. */
export function isWanted(error: unknown): boolean {
  return (
    error instanceof ElicitationRefused ||
    error instanceof SagaCancelled ||
    error instanceof SagaAborted
  );
}

/**
 * Describes an error in a sentence. Shows messages of the host and of authoring errors only: others
 * may contain answers.
 */
export function outline(error: unknown): string {
  // A cause of the host is not for the client.
  if (error instanceof SagaHostError) {
    return error.cause instanceof SagaHostError
      ? `${error.message} ${error.cause.message}`
      : error.message;
  }
  if (!(error instanceof Error)) return 'A value that is not an Error was thrown.';
  const { code, stepId } = error as { readonly code?: unknown; readonly stepId?: unknown };
  const at = typeof stepId === 'string' ? ` at step '${withoutKeys(stepId)}'` : '';
  const isMistake: boolean = isAuthoringError(error);
  if (isMistake) {
    const message = withoutLink(error.message);
    return `${message}${/[.!?]$/.test(message) ? '' : '.'}`;
  }
  const isCode =
    (typeof code === 'string' || typeof code === 'number') && /^\w{1,64}$/.test(String(code));
  return `${error.constructor.name}${isCode ? ` (${code})` : ''}${at}.`;
}

/** Explanation for each reason of a rejection, shown in development only. */
const reasons: { readonly [reason in RefusalReason]: string } = {
  malformed: 'The token is incomplete.',
  too_large: 'The token is longer than limits.maxTokenBytes.',
  unknown_key:
    'The host does not have the key of the token: SAGA_KEYS differ, or the key was removed or ephemeral.',
  undecryptable:
    'The token was modified, or sealed for another `audience` or with another key of the same ID.',
  purpose: 'The token has another purpose.',
  audience: 'The token was sealed for another `audience`.',
  sid: 'The token belongs to another saga.',
  not_yet_valid:
    'The token is not valid yet: the clock of the host is behind the clock of the issuing host.',
  expired: '`limits.tokenTtl` or `limits.maxLifetime` has passed.',
  revoked: 'The token was issued before `auth.rejectIssuedBefore`.',
  method: 'The token was issued for another method.',
  target: 'The host does not serve the saga of the token, or the call is for another tool.',
  arguments: 'The call has other arguments than the call that started the saga.',
  principal: 'Another principal started the saga.',
  engine: 'The token was sealed by a newer release.',
  forbidden: '`auth.authorize` did not allow the call.',
  request: 'The token belongs to a request with another JSON-RPC ID.',
  unknown_handle: 'The store does not know the handle or the link: expired, or never issued.',
  guard_restarted: 'The token was issued before a restart of memoryStore().',
  used: 'The token was used with other answers, or a newer token was used.',
};
