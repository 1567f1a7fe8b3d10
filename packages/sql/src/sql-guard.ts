import type { Fence, GuardClaim, GuardVerdict, SagaGuard } from '@mcp-saga/server/stores';
import type { SqlValue } from './sql-clients.ts';
import type { Database, Row } from './database.ts';
import { guardStatements } from './guard-statements.ts';
import { sweeper } from './sweep.ts';
import { callId, keyOf, textOf, wordOf } from './sql-text.ts';

/** Clocks of hosts may differ from the clock of the database by as much as tokens allow. */
const maxSkew = 30_000;

/** Each attempt but the last lost a race with another request for the turn. */
const maxAttempts = 5;

/**
 * Creates a guard. One statement decides each method: it inserts the turn, or changes the turn as
 * the guard last saw it.
 */
export function sqlGuard(database: Database): SagaGuard {
  const { run } = database;
  const statements = guardStatements(database);
  const sweep = sweeper(database, statements.sweep);
  const didChange = async (
    statement: string,
    fence: Fence,
    ...values: SqlValue[]
  ): Promise<boolean> => {
    const saga = await keyOf(fence.sagaId);
    return (await run(statement, [saga, fence.turn, fence.number, ...values])).length > 0;
  };
  return {
    begin: async (claim) => {
      await sweep();
      const { sagaId, turn, owner } = claim;
      const saga = await keyOf(sagaId);
      const call = callId();
      const fenceOf = ([row]: readonly Row[]): Fence | undefined =>
        row && { sagaId, turn, number: Number(row['fence']) };
      const fresh = await freshTurn(claim, saga, call);
      const respondsUntil = fresh[respondsUntilAt] ?? null;
      for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
        const begun = fenceOf(await run(statements.insert, fresh));
        if (begun !== undefined) return { run: begun };
        const [row = {}] = await run(statements.read, [saga, turn]);
        const now = Number(row['now']);
        assertClocks(claim, now);
        const used = usedTurn(row, claim, call);
        if (used === undefined && claim.expiresAt <= now) throw new Error(ahead);
        // A turn that is not there was just forgotten, or the owner stores too much.
        if (used === undefined && (attempt === 1 || owner === undefined)) continue;
        if (used === undefined) return 'full';
        if (used.verdict !== undefined) return used.verdict;
        const values = [
          saga,
          turn,
          used.fence,
          Math.ceil(claim.leaseMs),
          call,
          used.isAwaited ? 1 : 0,
        ];
        const taken = fenceOf(await run(statements.takeOver, [...values, respondsUntil]));
        if (taken !== undefined) return { run: taken, ...used.interrupted };
      }
      return 'busy';
    },
    finish: (fence, sealedResponse) =>
      didChange(statements.finish, fence, wordOf(sealedResponse), sealedResponse.length),
    release: async (fence) => void (await didChange(statements.release, fence)),
    forget: (fence) => didChange(statements.forget, fence),
    claim: async (key, expiresAt) => {
      await sweep();
      const call = callId();
      const [row] = await run(statements.claim, [await keyOf(key), call, Math.ceil(expiresAt)]);
      if (row !== undefined && expiresAt <= Number(row['now'])) throw new Error(ahead);
      return row !== undefined;
    },
  };
}

const ahead =
  'The entry would expire at once: the clock of the database is ahead. Synchronize the clocks.';

/** @throws Error if the clocks of the host and the database differ too much */
function assertClocks({ now: host }: GuardClaim, now: number): void {
  if (host !== undefined && Math.abs(now - host) > maxSkew) {
    throw new Error(
      'The clocks of the database and of this host differ by more than 30 s. Synchronize the clocks.',
    );
  }
}

/** Index of `respondsUntil` in the values of a fresh turn. */
const respondsUntilAt = 8;

/** Values of the statement that inserts a turn. */
async function freshTurn(
  claim: GuardClaim,
  saga: string,
  call: string,
): Promise<readonly SqlValue[]> {
  const { turn, jti, action, digest, leaseMs, expiresAt, owner, request, now } = claim;
  const respondsUntil = Math.min(claim.respondsUntil ?? expiresAt, expiresAt);
  const isLimited = owner !== undefined && owner.maxBytes < Number.MAX_SAFE_INTEGER;
  // prettier-ignore
  return [
    saga, turn, wordOf(jti), action, wordOf(digest),
    Math.ceil(leaseMs), call, request === undefined ? null : wordOf(request),
    Math.ceil(respondsUntil), Math.ceil(expiresAt),
    owner === undefined ? null : await keyOf(owner.id), request?.length ?? 0,
    now === undefined ? null : Math.ceil(now), isLimited ? owner.maxBytes : null,
  ];
}

interface UsedTurn {
  /** Undefined if the claim may take over the turn. */
  readonly verdict: GuardVerdict | undefined;
  readonly fence: number;
  /**
   * `true` if the claim awaits the request of the turn, which runs to its end: its effects are
   * known.
   */
  readonly isAwaited: boolean;
  readonly interrupted: { readonly interrupted?: string; readonly other?: true };
}

/** Decides about a claim of a used token. Undefined if the token is not used. */
function usedTurn(row: Row, claim: GuardClaim, call: string): UsedTurn | undefined {
  if (Number(row['is_live'] ?? 0) !== 1) return undefined;
  const { sagaId, turn } = claim;
  const is = (column: string): boolean => Number(row[column]) === 1;
  const request = row['request'] === null ? undefined : textOf(row['request']);
  const isDone = is('is_done');
  const isSame = textOf(row['digest']) === claim.digest;
  const isAction = row['action'] === claim.action;
  const isRequest = isAction && (isSame || claim.follows === true);
  const mayEnd =
    claim.ends === true && row['action'] === 'resume' && (isDone || request !== undefined);
  const isAwaited =
    claim.awaits === true && isAction && !isRequest && !isDone && request !== undefined;
  const fence = Number(row['fence']);
  const interrupted =
    request === undefined
      ? {}
      : { interrupted: request, ...(isAwaited ? ({ other: true } as const) : {}) };
  const decided = (verdict: GuardVerdict | undefined): UsedTurn => ({
    verdict,
    fence,
    isAwaited,
    interrupted,
  });
  if (textOf(row['jti']) !== claim.jti || !(isRequest || mayEnd || isAwaited))
    return decided('conflict');
  if (isDone) {
    if (row['response'] === null) return decided('conflict');
    const response = textOf(row['response']);
    return decided({ response, wentOn: is('went_on'), ...(isRequest ? {} : { other: true }) });
  }
  // The driver repeated the call, because the reply was lost.
  if (row['called_by'] === call) {
    const isFirst = !is('is_again') && !isAwaited;
    return decided({ run: { sagaId, turn, number: fence }, ...(isFirst ? {} : interrupted) });
  }
  if (is('is_leased')) return decided('busy');
  return decided(isSame || request !== undefined ? undefined : 'conflict');
}
