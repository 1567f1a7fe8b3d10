import { ElicitationRefused, SagaAborted, SagaCancelled } from '@mcp-saga/core';
import { isAuthoringError } from '@mcp-saga/core/program';
import { SagaHostError } from '../wire/errors.ts';
import type { HostHooks } from '../model/hooks.ts';
import type { RefusalReason } from '@mcp-saga/seal';

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
      const why =
        development && Object.hasOwn(reasons, reason) ? reasons[reason as RefusalReason] : undefined;
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

/** Describes an error in a sentence. Shows messages of the host and of mistakes in code only: others may contain answers. */
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

/** What each reason of a refusal comes of: for who develops, never for the wire. */
const reasons: { readonly [reason in RefusalReason]: string } = {
  malformed: 'It is no token, or a part of one.',
  too_large: 'It is longer than limits.maxTokenBytes.',
  unknown_key: 'This host does not have its key: another SAGA_KEYS, a dropped key, or an ephemeral one.',
  undecryptable: 'It was changed, or sealed for another `audience` or by another key of the same ID.',
  purpose: 'It is a token for something else.',
  audience: 'It was sealed for another `audience`.',
  sid: 'It is of another saga.',
  not_yet_valid:
    'Its time has not come: a cancel token opens after its cancelAfter. For another token, the clock of this host is behind ' +
    'the clock of the host that issued it.',
  expired: 'Its `limits.tokenTtlMs` or `limits.maxLifetimeMs` is over.',
  revoked: 'It was issued before `rejectIssuedBefore`.',
  method: 'It was handed out by another method.',
  target: 'This host does not serve its saga, or the call is of another tool.',
  arguments: 'The call has other arguments than the one that started the saga.',
  principal: 'The `principal` of this request is another than the one that started the saga.',
  engine: 'It was sealed by a newer release.',
  forbidden: '`authorize` said no.',
  request: 'It belongs to a request with another JSON-RPC ID.',
  unknown_handle: 'The store has no such handle: it has expired, or was never issued.',
  guard_restarted: 'It was issued before a restart of memoryGuard().',
  used: 'It was used with other answers, or a newer one was used.',
};

/** Removes the keys of steps from a path, as they may be answers: `charge(7)` becomes `charge(*)`. */
export function withoutKeys(path: string): string {
  return path.replace(/\(.*\)/s, '(*)');
}

/** Makes a text one line of a log, without control characters for a terminal. */
export function oneLine(text: string): string {
  return text.replace(
    // oxlint-disable-next-line no-control-regex -- those are the ones
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
