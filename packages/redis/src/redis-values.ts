/** Lua: the Redis clock, by which all processes agree on leases, and numbers as text. */
export const clock = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function text(number) return string.format('%.0f', number) end
local ahead = 'MCPSAGA The entry would expire at once: the Redis clock is ahead. Synchronize the clocks.'
`;

/** Reads a reply of 1. Clients can be configured to return numbers as text. */
export function isOne(reply: unknown): boolean {
  return Number(reply) === 1;
}

/**
 * `true` for an error that Redis replied, such as `OOM …`: the script has changed nothing. `false`
 * if the reply is missing. `@upstash/redis` puts its own words before the error of Redis.
 */
export function isRefusal(error: unknown): boolean {
  return error instanceof Error && refusals.test(error.message);
}

/** Codes with which Redis refuses a script. A proxy before it may answer with other capitals. */
const refusals =
  /(?:^|: )(?:OOM|MCPSAGA|ERR|BUSY|CLUSTERDOWN|CROSSSLOT|LOADING|MASTERDOWN|MISCONF|MOVED|NOAUTH|NOPERM|NOREPLICAS|NOSCRIPT|READONLY|TRYAGAIN|WRONGTYPE) /;

/** Formats a number for Redis. */
export function whole(number: number): string {
  return String(Math.ceil(number));
}

/** Reply of texts. */
export type Texts = readonly (string | undefined)[];

/** Reads a reply of texts. Clients can be configured to return numbers as numbers. */
export function textsOf(reply: unknown): Texts {
  return (Array.isArray(reply) ? (reply as unknown[]) : []).map((text) =>
    typeof text === 'string' || typeof text === 'number' ? String(text) : undefined,
  );
}
