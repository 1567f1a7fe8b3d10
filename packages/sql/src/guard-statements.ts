import type { Database } from './database.ts';

// A turn is a row: jti, action, digest request that used the token. `jti` is NULL once the turn is
// forgotten: its token is good again. fence number of the newest lease; earlier leases cannot
// finish the turn leased_until end of the lease called_by ID of the call with the lease is_again 1
// if an earlier lease ended without a result, so effects of the turn are unknown is_done 1 once the
// turn is finished request, response sealed. A finished turn has no request, and loses its response
// at `responds_until`. due_at time at which a sweep changes or removes the row owner, bytes
// principal, and the bytes of the request or the response A forgotten row stays until it expires,
// so that a late `finish` of an old lease never meets a new lease of the same number.

/** Greater of two numbers. */
function later(one: string, other: string): string {
  return `CASE WHEN ${one} > ${other} THEN ${one} ELSE ${other} END`;
}

/** Makes the statements of a guard. */
export function guardStatements({ dialect, tables }: Pick<Database, 'dialect' | 'tables'>): {
  readonly insert: string;
  readonly read: string;
  readonly takeOver: string;
  readonly finish: string;
  readonly release: string;
  readonly forget: string;
  readonly claim: string;
  readonly sweep: (limit: number) => readonly string[];
} {
  const { now } = dialect;
  const { turns, claims } = tables;
  const columns =
    'saga, turn, jti, action, digest, fence, leased_until, called_by, is_again, is_done, request, response, ' +
    'responds_until, expires_at, due_at, owner, bytes';
  const anew = columns
    .split(', ')
    .filter((column) => !['saga', 'turn', 'fence'].includes(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(', ');
  const isKey = 'saga = $1 AND turn = CAST($2 AS BIGINT)';
  const isFence = `${isKey} AND fence = CAST($3 AS BIGINT) AND jti IS NOT NULL AND expires_at > ${now}`;
  const isLeased = `${isFence} AND is_done = 0`;
  return {
    /**
     * Values: saga, turn, jti, action, digest, lease in milliseconds, call, request, end of the
     * response, expiry, owner, bytes, time of the host, limit of the owner. No row if a live turn
     * exists, the owner is over the limit, or a clock is wrong.
     */
    insert: `INSERT INTO ${turns} AS used (${columns})
SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT), ${now},
  ${now} + CAST($6 AS BIGINT), CAST($7 AS TEXT), 0, 0, CAST($8 AS TEXT), NULL, CAST($9 AS BIGINT), CAST($10 AS BIGINT),
  CAST($10 AS BIGINT), CAST($11 AS TEXT), CAST($12 AS BIGINT)
WHERE CAST($10 AS BIGINT) > ${now}
  AND (CAST($13 AS BIGINT) IS NULL OR abs(${now} - CAST($13 AS BIGINT)) <= 30000)
  AND (CAST($14 AS BIGINT) IS NULL OR CAST($14 AS BIGINT) > (SELECT COALESCE(SUM(kept.bytes), 0) FROM ${turns} AS kept
    WHERE kept.owner = CAST($11 AS TEXT) AND kept.due_at > ${now}))
ON CONFLICT (saga, turn) DO UPDATE SET ${anew}, fence = ${later('excluded.fence', 'used.fence + 1')}
WHERE used.jti IS NULL OR used.expires_at <= ${now}
RETURNING fence`,
    /** Values: saga, turn. One row, with the time of the database. */
    read: `SELECT clock.now AS now, used.jti, used.action, used.digest, used.fence, used.called_by, used.is_again, used.is_done,
  used.request,
  CASE WHEN used.jti IS NOT NULL AND used.expires_at > clock.now THEN 1 ELSE 0 END AS is_live,
  CASE WHEN used.leased_until > clock.now THEN 1 ELSE 0 END AS is_leased,
  CASE WHEN used.responds_until > clock.now THEN used.response END AS response,
  CASE WHEN EXISTS (SELECT 1 FROM ${turns} AS later WHERE later.saga = used.saga AND later.turn = used.turn + 1
    AND later.jti IS NOT NULL AND later.expires_at > clock.now) THEN 1 ELSE 0 END AS went_on
FROM (SELECT ${now} AS now) AS clock LEFT JOIN ${turns} AS used ON ${isKey}`,
    /**
     * Values: saga, turn, fence, lease in milliseconds, call, '1' if the request is awaited, end of
     * the response.
     */
    takeOver: `UPDATE ${turns} SET fence = ${later(now, 'fence')} + 1, leased_until = ${now} + CAST($4 AS BIGINT),
  called_by = $5, is_again = CASE WHEN CAST($6 AS INTEGER) = 1 THEN is_again ELSE 1 END,
  responds_until = ${later('responds_until', 'CAST($7 AS BIGINT)')}
WHERE ${isLeased} AND leased_until <= ${now}
RETURNING fence`,
    /**
     * Values: saga, turn, fence, response, its bytes. A repeated call finds its response: no two
     * responses are equal.
     */
    finish: `UPDATE ${turns} SET response = CASE WHEN responds_until > ${now} THEN CAST($4 AS TEXT) END, request = NULL,
  is_done = 1, bytes = CAST($5 AS BIGINT), due_at = CASE WHEN responds_until < expires_at THEN responds_until ELSE expires_at END
WHERE ${isFence} AND (is_done = 0 OR response = CAST($4 AS TEXT))
RETURNING fence`,
    /** Values: saga, turn, fence. */
    release: `UPDATE ${turns} SET leased_until = 0, called_by = '' WHERE ${isLeased} RETURNING fence`,
    /** Values: saga, turn, fence. */
    forget: `UPDATE ${turns} SET leased_until = 0, called_by = '', jti = CASE WHEN is_again = 1 THEN jti END,
  request = CASE WHEN is_again = 1 THEN request END, bytes = CASE WHEN is_again = 1 THEN bytes ELSE 0 END
WHERE ${isLeased}
RETURNING fence`,
    /** Values: claim, call, expiry. No row if another call has the claim. */
    claim: `INSERT INTO ${claims} AS used (claim, called_by, expires_at)
VALUES (CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS BIGINT))
ON CONFLICT (claim) DO UPDATE SET called_by = excluded.called_by, expires_at = excluded.expires_at
WHERE used.expires_at <= ${now} OR used.called_by = excluded.called_by
RETURNING ${now} AS now`,
    sweep: (limit) => [
      `DELETE FROM ${turns} WHERE ${dialect.isAmong(turns, `due_at <= ${now} AND expires_at <= ${now}`, limit)} RETURNING 1`,
      `UPDATE ${turns} SET response = NULL, bytes = 0, due_at = expires_at
WHERE ${dialect.isAmong(turns, `due_at <= ${now} AND expires_at > ${now}`, limit)} RETURNING 1`,
      `DELETE FROM ${claims} WHERE ${dialect.isAmong(claims, `expires_at <= ${now}`, limit)} RETURNING 1`,
    ],
  };
}
