import { describe, expect, test } from 'vitest';
import { start, testClock, type TestClock } from './fixtures/clock.ts';
import { keyBytes, keyOf, newKey, oldKey, type TestHost } from './fixtures/host.ts';
import { accepted } from './fixtures/rounds.ts';
import { deploys, hostForAll, ways, type Way } from './fixtures/ways.ts';
import { coreOf } from '../src/saga-host.ts';

const answers = { target: accepted({ target: 'production' }) };
const skew = 30_000;

function fleet(
  ran: string[],
  clock: TestClock,
  first: string,
  second: string,
): readonly [TestHost, TestHost] {
  return [
    hostForAll([deploys(ran)], { keys: first, clock }),
    hostForAll([deploys(ran)], { keys: second, clock }),
  ];
}

function kidOf(token: string): unknown {
  const [header = ''] = token.split('.');
  return (JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid: unknown }).kid;
}

/** Those of the ways whose token holds the whole saga: a task without its store is nothing. */
const carrying = ways.filter(({ name }) => !['tasks', 'resumable requests'].includes(name));

/** Continues the saga, and returns the outcome: `done`, `refused`, or another one. */
async function outcome(way: Way, host: TestHost, token: string): Promise<string> {
  const { last, text } = await way.goOn(host, token, answers);
  if (last.result !== undefined && text.includes('Deployed to production')) return 'done';
  if (last.error?.code === -32603)
    return `later: ${(last.error.data as { reason: string }).reason}`;
  expect(last.error).toStrictEqual(way.refused);
  return 'refused';
}

const phases = [
  [oldKey, oldKey],
  // Each phase is rolled out host by host, while hosts of the previous phase still run.
  [`${oldKey},${newKey}`, oldKey],
  [`${oldKey},${newKey}`, `${oldKey},${newKey}`],
  [`${newKey},${oldKey}`, `${oldKey},${newKey}`],
  [`${newKey},${oldKey}`, `${newKey},${oldKey}`],
  [newKey, `${newKey},${oldKey}`],
  [newKey, newKey],
] as const;

describe.each(carrying)('a key rotation during sagas by $name', (way) => {
  test('[T7] keeps all running sagas valid, whichever host resumes them', async () => {
    const clock = testClock();
    const ran: string[] = [];
    let inFlight: readonly string[] = [];
    let done = 0;
    for (const [first, second] of phases) {
      const hosts = fleet(ran, clock, first, second);
      for (const [index, token] of inFlight.entries()) {
        // Each saga continues at another host than the one that began it.
        expect(await outcome(way, hosts[index % 2 === 0 ? 1 : 0], token)).toBe('done');
        done += 1;
      }
      inFlight = [await way.begin(hosts[0]), await way.begin(hosts[1])];
      // Sealed on one host, opened on the other, within the phase.
      for (const [index, token] of inFlight.entries()) {
        expect(await outcome(way, hosts[index === 0 ? 1 : 0], token)).toBe('done');
      }
      expect(hosts.flatMap(({ told }) => told.rejections)).toEqual([]);
      clock.now += 60_000;
    }
    expect(done).toBe((phases.length - 1) * 2);
  });

  test('[T7] seals with the first key in every turn', async () => {
    for (const [keys, kid] of [
      [`${oldKey},${newKey}`, 'old'],
      [`${newKey},${oldKey}`, 'new'],
    ] as const) {
      const host = hostForAll([deploys()], { keys });
      expect(kidOf(await way.begin(host))).toBe(kid);
    }
    const old = await way.begin(hostForAll([deploys()], { keys: oldKey }));
    const { text } = await way.goOn(
      hostForAll([deploys()], { keys: `${newKey},${oldKey}` }),
      old,
      {},
    );
    const [next = ''] = /eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+/.exec(text) ?? [];
    expect(kidOf(next)).toBe('new');
  });

  test.each([
    ['a phase that was left out', oldKey, newKey, 'unknown_key'],
    ['a retired key, which seals no more', `${oldKey},${newKey}`, newKey, 'unknown_key'],
    ['a host without the new key', `${newKey},${oldKey}`, oldKey, 'unknown_key'],
    ['a wrong key under the same id', oldKey, keyOf('old', 0x33), 'undecryptable'],
    ['the right key under another id', oldKey, keyOf('older', 0x11), 'unknown_key'],
  ])(
    '[T3] [T5] [T7] refuses %s, and reports the reason to the hook',
    async (_, before, after, reason) => {
      const ran: string[] = [];
      const [one, other] = fleet(ran, testClock(), before, after);
      const token = await way.begin(one);
      expect(await outcome(way, other, token)).toBe('refused');
      expect(other.told.rejections).toEqual([{ reason, suppressed: 0 }]);
      expect(ran).toEqual(['build']);
      // The token stays valid: with the key restored, the saga continues.
      const back = hostForAll([deploys(ran)], { keys: before });
      expect(await outcome(way, back, token)).toBe('done');
    },
  );

  test('[T3] does not open at another service with the same key', async () => {
    const clock = testClock();
    const shop = hostForAll([deploys()], { audience: 'shop', clock });
    const bank = hostForAll([deploys()], { audience: 'bank', clock });
    const token = await way.begin(shop);
    expect(await outcome(way, bank, token)).toBe('refused');
    expect(bank.told.rejections).toEqual([{ reason: 'undecryptable', suppressed: 0 }]);
    expect(await outcome(way, shop, token)).toBe('done');
    await expect(bank.host.inspect(token)).rejects.toThrow('Invalid or expired');
  });

  test.each([
    ['29 s behind the host that sealed', -29_000, 'done'],
    ['31 s behind the host that sealed', -31_000, 'later: clock_behind'],
    ['29 s past the end of the token', 3_600_000 + 29_000, 'done'],
    ['31 s past the end of the token', 3_600_000 + 31_000, 'refused'],
  ])('[T6] tolerates 30 s of clock skew: %s', async (_, offset, expected) => {
    const token = await way.begin(hostForAll([deploys()], { clock: testClock() }));
    const other = hostForAll([deploys()], { clock: testClock(start + offset) });
    expect(await outcome(way, other, token)).toBe(expected);
  });

  test('[T6] accepts a token 30 s before its issue, and refuses it 30 s after its expiry', async () => {
    const token = await way.begin(hostForAll([deploys()], { clock: testClock() }));
    const at = (now: number): Promise<string> =>
      outcome(way, hostForAll([deploys()], { clock: testClock(now) }), token);
    expect(await at(start - skew)).toBe('done');
    expect(await at(start + 3_600_000 + skew)).toBe('refused');
  });

  test('[T7] accepts the same keys as JWKs, as a list and as text', async () => {
    const jwk = (kid: string, byte: number): object => ({
      kty: 'oct',
      kid,
      k: keyBytes(byte).toString('base64url'),
      alg: 'A256GCM',
      use: 'enc',
    });
    const forms = [
      `${oldKey},${newKey}`,
      [oldKey, newKey],
      [jwk('old', 0x11), jwk('new', 0x22)],
      JSON.stringify({ keys: [jwk('old', 0x11), jwk('new', 0x22)] }),
      [
        { kid: 'old', key: keyBytes(0x11) },
        { kid: 'new', key: keyBytes(0x22) },
      ],
    ];
    const hosts = forms.map((keys) => hostForAll([deploys()], { keys: keys as string }));
    for (const from of hosts) {
      const token = await way.begin(from);
      const outcomes = await Promise.all(hosts.map((to) => outcome(way, to, token)));
      expect(outcomes).toEqual(forms.map(() => 'done'));
    }
  });
});

describe('a task during a key rotation', () => {
  test('[T7] continues by its old ID, and its record opens with the old key', async () => {
    const way = ways.find(({ name }) => name === 'tasks')!;
    const clock = testClock();
    const ran: string[] = [];
    const { host, told } = hostForAll([deploys(ran)], { keys: oldKey, clock });
    const { store } = coreOf(host).offers.tasks!;
    const at = (keys: string): TestHost =>
      hostForAll([deploys(ran)], { keys, clock, anonymous: { tasks: 'accept' }, store });
    const taskId = await way.begin({ host, told, clock });
    expect((await way.goOn(at(newKey), taskId, answers)).last.error).toStrictEqual(way.refused);
    expect((await way.goOn(at(`${newKey},${oldKey}`), taskId, answers)).last.error).toBeUndefined();
    expect(ran).toEqual(['build', 'deploy production']);
  });
});
