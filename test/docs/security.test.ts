import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { read } from './markdown.ts';

const page = 'docs/reference/security.md';

/** The tests behind the claims of the page, by file. A claim without a test is a wish. */
const tests: Readonly<Record<string, readonly string[]>> = {
  'packages/opentelemetry/test/leaks.test.ts': [
    '[T12] no span contains an argument, answer, result, message, principal, key, or token',
  ],
  'packages/redis/test/loss.test.ts': [
    '[T13] [E8] `rejectIssuedBefore` rejects older tokens, and the queue undoes their sagas',
  ],
  'packages/seal/test/compression.test.ts': [
    '[T10] are equal for results that differ only in a secret, whether an argument equals it or not',
  ],
  'packages/seal/test/expectations.test.ts': [
    '[T6] accept a token until the skew after its expiry, and not a millisecond longer',
    '[T6] refuse a token sealed before `rejectIssuedBefore`, and accept one sealed at that time',
    '[T5] refuses with one frozen message, and keeps the reason separate',
  ],
  'packages/seal/test/keys.test.ts': [
    '[T7] shows no key in an error, whatever is wrong with it',
    '[T7] runs in phases: old,new then new,old then new, with two adjacent phases at once',
  ],
  'packages/seal/test/weak-keys.test.ts': ['[T7] refuses %s without showing it'],
  'packages/seal/test/round-trip.test.ts': ['[T2] shows only format, key ID, and saga ID'],
  'packages/server/test/attacks/lengths.property.test.ts': [
    '[T15] tokens have the same length for every secret of one length',
  ],
  'packages/server/test/attacks/malformed.test.ts': ['[T5] gets the frozen response over HTTP'],
  'packages/server/test/attacks/secrets.test.ts': [
    '[T5] [T14] is in no default log of a host in %s, however it is used',
    '[T5] [T14] is passed to no hook, and is in no error that a hook gets',
  ],
  'packages/server/test/attacks/sizes.test.ts': [
    '[T4] [T11] does not decode a long or malformed token',
  ],
  'packages/server/test/attacks/tokens.test.ts': [
    '[T4] [T5] gets the frozen response if it is %s',
    '[T5] [T6] gets the frozen response if it is %s',
    '[T13] [E7] runs each step once for ten concurrent replays',
  ],
  'packages/server/test/attacks/volume.test.ts': [
    '[T11] an answer over the token limit costs nothing, because no schema parses it',
  ],
  'packages/server/test/dialects/multi-round-trip-states.test.ts': [
    '[T6] for another saga or other arguments',
    '[T3] with another key or another audience',
  ],
  'packages/server/test/dialects/multi-round-trip.test.ts': [
    '[W4] to unknown questions are ignored and reported to the hook',
  ],
  'packages/server/test/dialects/unfinished-calls.test.ts': [
    '[T14] the model does not answer questions for the user of the client',
  ],
  'packages/server/test/host/contents.test.ts': [
    '[T12] with keep: %s it is %s that a token contains the result',
    '[T12] services, and the user and signals of a request, are not in the token',
  ],
  'packages/server/test/host/default-log.test.ts': [
    'logs the failed saga and its step, but not the thrown message',
    'logs neither the key of a step nor its error code, which may contain an answer',
  ],
  'packages/server/test/host/principals.test.ts': [
    '[T6] cannot be forged by the members of another principal',
    '[T6] authorize is called in each turn, with the caller and the saga',
    '[T11] rateLimit is called after the token was opened and before the replay',
  ],
  'packages/server/test/leaks.test.ts': [
    'no secret or thrown message is on the wire of the %s era, in hooks, or on the console',
  ],
  'packages/server/test/outside/approval.test.ts': [
    'is not answered by the caller, unless `allowCaller` is set',
    'is checked by the webhook of the host that the step names',
  ],
  'packages/server/test/outside/attacks.test.ts': [
    'an approval accepts no answer of the client',
    'record nothing by GET and HEAD, as link previews and scanners send them',
    'are refused in forms of other pages',
    'cannot count repeated, moved, or altered answers',
  ],
  'packages/server/test/outside/leaks.test.ts': [
    '[T5] [T14] do not appear in the default log, nor do their tokens, links, and error messages',
    '[T5] [T14] do not appear in a hook, nor do their tokens and links',
  ],
  'packages/server/test/outside/links.test.ts': [
    'cannot be made by the store, which knows neither the name nor what is asked',
  ],
  'packages/server/test/reuse.test.ts': [
    '[E7] without a guard, a client can reload an older token and get a refund after shipping',
    '[T13] [E7] with a guard, an older token after shipping is refused with the frozen response',
    '[T13] the same token with the same answers gets the same response and runs nothing',
    '[T13] runs nothing if the guard does not answer',
  ],
  'packages/server/test/serve-gate.test.ts': [
    'refuses a page on plain HTTP whose origin matches the host, as after DNS rebinding',
  ],
  'packages/server/test/serve.test.ts': [
    '[T6] authenticates each request, and binds the saga to its principal',
    'refuses requests to hosts outside of allowedHosts',
  ],
  'test/docs/guides.test.ts': [
    'accepts no confirmation of a model, although models may answer other questions of the saga',
  ],
  'test/matrix/hosts.test.ts': [
    'srvx on loopback rejects requests to foreign hosts, as after DNS rebinding',
  ],
};

const linked = (text: string): readonly string[] =>
  [...text.matchAll(/\]\(([^)]+\.test\.ts)\)/g)].map(([, href = '']) =>
    posix.join(posix.dirname(page), href),
  );

describe('the page on security', () => {
  it('names a test for each claim of a table that has a column for tests', () => {
    const tables = read(page).match(/^\|.*shown by *\|\n(?:\|.*\|\n)+/gm) ?? [];
    const rows = tables.flatMap((table) => table.trim().split('\n').slice(2));
    expect(rows.length).toBeGreaterThan(25);
    expect(rows.filter((row) => linked(row).length === 0)).toEqual([]);
  });

  it('links to each file of tests that is listed here', () => {
    expect([...new Set(linked(read(page)))].toSorted()).toEqual(Object.keys(tests).toSorted());
  });

  it.each(Object.entries(tests))('rests on tests of %s that exist', (file, titles) => {
    const text = read(file).replaceAll("\\'", "'");
    expect(titles.filter((title) => !text.includes(title))).toEqual([]);
  });
});
