import { createKeyRing, createSealer } from '@mcp-saga/seal';
import { memoryStore } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { start } from '../fixtures/clock.ts';
import { keyOf, newKey, oldKey, type TestHost } from '../fixtures/host.ts';
import { accepted } from '../fixtures/rounds.ts';
import { deploys, comparedHost, hostForAll, ways, type Way } from '../fixtures/ways.ts';

const answers = { target: accepted({ target: 'production' }) };

/** What an attacker makes of two good tokens, of one user and one saga each. */
type Attack = (token: string, other: string) => string;

function withHeader(token: string, change: (header: Record<string, unknown>) => object): string {
  const [header = '', ...rest] = token.split('.');
  const parsed = JSON.parse(Buffer.from(header, 'base64url').toString()) as Record<string, unknown>;
  return [Buffer.from(JSON.stringify(change(parsed))).toString('base64url'), ...rest].join('.');
}

function part(token: string, index: number): string {
  return token.split('.')[index] ?? '';
}

function replaced(token: string, index: number, by: string): string {
  return token
    .split('.')
    .map((text, at) => (at === index ? by : text))
    .join('.');
}

const none = Buffer.from('{"alg":"none"}').toString('base64url');

const attacks: { readonly [name: string]: Attack } = {
  'made up': () => 'eyJhbGciOiJkaXIifQ..AAAA.AAAA.AAAA',
  'cut short by one character': (token) => token.slice(0, -1),
  'cut in the middle': (token) => token.slice(0, token.length / 2),
  'without its tag': (token) => replaced(token, 4, ''),
  'a million characters long': () => 'A'.repeat(1_000_000),
  'good, with a megabyte behind it': (token) => token + 'A'.repeat(1_000_000),
  'with the text of another one': (token, other) => replaced(token, 3, part(other, 3)),
  'with the tag of another one': (token, other) => replaced(token, 4, part(other, 4)),
  'under the header of another saga': (token, other) => replaced(token, 0, part(other, 0)),
  'under the nonce of another one': (token, other) => replaced(token, 2, part(other, 2)),
  'its own, twice': (token) => `${token}.${token}`,
  'of alg none': (token) => withHeader(token, (header) => ({ ...header, alg: 'none' })),
  'of alg none, as an unsigned JWT': (token) => `${none}.${part(token, 3)}.`,
  'signed with HS256, as a JWS': (token) => `${none}.${part(token, 3)}.${part(token, 4)}`,
  'of alg RSA-OAEP': (token) => withHeader(token, (header) => ({ ...header, alg: 'RSA-OAEP' })),
  'of alg PBES2, with a count that takes hours': (token) =>
    withHeader(token, (header) => ({
      ...header,
      alg: 'PBES2-HS512+A256KW',
      p2c: 2_000_000_000,
      p2s: 'AAAA',
    })),
  'of alg dir, with an encrypted key beside it': (token) => replaced(token, 1, 'AAAA'),
  'of enc A128GCM': (token) => withHeader(token, (header) => ({ ...header, enc: 'A128GCM' })),
  'with zip, to be inflated': (token) => withHeader(token, (header) => ({ ...header, zip: 'DEF' })),
  'with a key of its own in jwk': (token) =>
    withHeader(token, (header) => ({ ...header, jwk: { kty: 'oct', k: 'A'.repeat(43) } })),
  'with a jku to fetch keys from': (token) =>
    withHeader(token, (header) => ({ ...header, jku: 'http://169.254.169.254/latest' })),
  'under the id of another key of the ring': (token) =>
    withHeader(token, (header) => ({ ...header, kid: 'new' })),
  'under a key id that is a path': (token) =>
    withHeader(token, (header) => ({ ...header, kid: '../../../dev/null' })),
  'under a key id that is an object': (token) =>
    withHeader(token, (header) => ({ ...header, kid: { toString: 'old' } })),
  'under the key id __proto__': (token) =>
    withHeader(token, (header) => ({ ...header, kid: '__proto__' })),
  'under the key id constructor': (token) =>
    withHeader(token, (header) => ({ ...header, kid: 'constructor' })),
  'with its header written in another order': (token) =>
    withHeader(token, (header) => Object.fromEntries(Object.entries(header).toReversed())),
  'with its header in JSON that has kid twice': (token) => {
    const header = Buffer.from(part(token, 0), 'base64url')
      .toString()
      .replace('"kid"', '"kid":"x","kid"');
    return replaced(token, 0, Buffer.from(header).toString('base64url'));
  },
  'with padding': (token) => `${token}==`,
};

const keys = [oldKey, newKey];

/** A host that records its calls of authorize and rateLimit, and allows every user. */
function watched(ran: string[] = []): { readonly server: TestHost; readonly asked: string[] } {
  const asked: string[] = [];
  const server = comparedHost([deploys(ran)], {
    keys,
    auth: {
      authorize: () => asked.push('authorize') > 0,
      rateLimit: () => asked.push('admit') > 0,
    },
  });
  return { server, asked };
}

/** A token as it is sealed, with four megabytes of zeros in it that take four kilobytes. */
async function inflated(token: string): Promise<string> {
  const sealer = createSealer({
    ring: createKeyRing(keys),
    audience: 'deployer',
    clock: () => start,
    limits: { maxInflatedBytes: 8 * 1024 * 1024 },
  });
  const { sid, claims } = await sealer.open(token, { purpose: 'token' });
  const zeros = '0'.repeat(4 * 1024 * 1024);
  return sealer.seal('token', sid, claims, [
    { bytes: '{}', compress: false },
    { bytes: zeros, compress: true },
  ]);
}

// The ID of a task holds nothing that is sealed.
describe.each(ways.filter(({ name }) => name !== 'tasks'))('a token of $name', (way) => {
  /** Sends a changed token, and returns the response byte for byte. */
  async function answerTo(attack: Attack): Promise<string> {
    const ran: string[] = [];
    const { server, asked } = watched(ran);
    const [token, other] = [await way.begin(server), await way.begin(server)];
    const changed = attack(token, other);
    expect(changed).not.toBe(token);
    const before = ran.length;
    asked.length = 0;
    const { last, text, status } = await way.goOn(server, changed, answers);
    expect(last.error).toStrictEqual(way.refused);
    expect(status).toBe(200);
    // For every attack, nothing is asked and nothing runs, so that the work is the same.
    expect(asked).toEqual([]);
    expect(ran).toHaveLength(before);
    expect(server.told.rejections).toHaveLength(1);
    expect(server.told.errors).toEqual([]);
    return text;
  }

  test.each(Object.entries(attacks))(
    '[T4] [T5] gets the frozen response if it is %s',
    async (_, attack) => {
      expect(await answerTo(attack)).toBe(await answerTo(() => 'nonsense'));
    },
  );

  test('[T3] [T5] gets the frozen response if forged with another key of the same ID', async () => {
    const { server } = watched();
    const foreign = keyOf('old', 0x66);
    const forged = await way.begin(comparedHost([deploys()], { keys: foreign }));
    const { last } = await way.goOn(server, forged, answers);
    expect(last.error).toStrictEqual(way.refused);
    expect(server.told.rejections).toMatchObject([{ reason: 'undecryptable' }]);
  });

  test('[T10] [T11] gets the frozen response if it would inflate beyond the limit', async () => {
    const { server } = watched();
    const bomb = await inflated(await way.begin(server));
    expect(bomb.length).toBeLessThan(20_000);
    const { last } = await way.goOn(server, bomb, answers);
    expect(last.error).toStrictEqual(way.refused);
    expect(server.told.rejections).toHaveLength(1);
  });

  test.each([
    ['of another user', 'eve'],
    ['of a user, and sent without one', undefined],
  ])('[T5] [T6] gets the frozen response if it is %s', async (_, user) => {
    const ran: string[] = [];
    const { server } = watched(ran);
    const token = await way.begin(server, {}, 'ada');
    const before = [...ran];
    const { last, text } = await way.goOn(server, token, answers, { user });
    expect(last.error).toStrictEqual(way.refused);
    expect(text).toBe((await way.goOn(server, 'nonsense', answers, { user })).text);
    expect(ran).toEqual(before);
    expect((await way.goOn(server, token, answers, { user: 'ada' })).last.error).toSatisfy(isFine);
  });

  test('[T13] [E7] runs each step once for ten concurrent replays', async () => {
    const ran: string[] = [];
    // Not compared: the comparison repeats requests one after the other, and beside a running
    // request, `requests/resume` waits.
    const server = hostForAll([deploys(ran)], { store: memoryStore({ clock: () => start }) });
    const token = await way.begin(server);
    const replays = Array.from({ length: 10 }, () => way.goOn(server, token, answers));
    for (const { last } of await Promise.all(replays)) expect(last.error).toSatisfy(isFine);
    expect(new Set(ran).size).toBe(ran.length);
    const { last } = await way.goOn(server, token, { target: accepted({ target: 'elsewhere' }) });
    // A resumed request carries no answers, and a task ignores answers to closed questions.
    if (['resumable requests', 'tasks'].includes(way.name)) expect(last.error).toSatisfy(isFine);
    else expect(last.error).toStrictEqual(way.refused);
    expect(ran).not.toContain('deploy elsewhere');
  });
});

/**
 * `true` for a response, or for an error with what the token needs next, as of `requests/resume`.
 */
function isFine(error: unknown): boolean {
  return (
    error === undefined || (error as { data: { reason?: string } }).data.reason === 'input_required'
  );
}

/**
 * The dialects whose tokens a dialect accepts: dialects that continue a call accept tokens of
 * calls.
 */
const takes: { readonly [name: string]: readonly string[] } = {
  'saga methods': ['saga methods'],
  'multi round-trip': ['multi round-trip', 'resumable requests'],
  'resume token': ['resume token'],
  'resumable requests': ['multi round-trip', 'resume token', 'resumable requests'],
  tasks: ['tasks'],
};

const pairs = ways.flatMap((from) =>
  ways.map((to): [string, string, Way, Way] => [from.name, to.name, from, to]),
);

test.each(pairs.filter(([from, to]) => !(takes[to] ?? []).includes(from)))(
  '[T3] [T6] a token of %s does not open in %s',
  async (_from, _to, from, to) => {
    const ran: string[] = [];
    const { server } = watched(ran);
    const token = await from.begin(server);
    const before = [...ran];
    expect((await to.goOn(server, token, answers)).last.error).toStrictEqual(to.refused);
    expect(ran).toEqual(before);
  },
);
