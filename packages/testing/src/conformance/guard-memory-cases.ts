import { collectCases, hour, same, type ConformanceCase } from './conformance-case.ts';
import { begunOf, fenceOf, responseOf, setUpGuard, type GuardUnderTest } from './guard-requests.ts';

/** Tests of how long a guard stores responses and keys, and how many bytes. */
export function guardMemory(make: () => Promise<GuardUnderTest>): readonly ConformanceCase[] {
  const { cases, test } = collectCases(() => setUpGuard(make));

  test('reports if the token of the next turn was used', async ({ guard, begin }) => {
    await guard.finish(fenceOf(await begin()), 'sealed');
    await begin({ turn: 3 });
    same(await begin(), { response: 'sealed', wentOn: false });
    await begin({ turn: 2 });
    same(await begin(), { response: 'sealed', wentOn: true });
  });

  test('removes a response earlier than the use of the token', async ({ guard, begin, pass }) => {
    await guard.finish(fenceOf(await begin()), 'sealed');
    await pass(hour + 1_000);
    same(await begin(), 'conflict');
    await pass(hour);
    fenceOf(await begin({ digest: 'no' }));
  });

  test('keeps a response as long as the turn by default', async ({ guard, now, pass }) => {
    const claim = {
      sagaId: 's',
      turn: 1,
      jti: 'token',
      action: 'resume',
      digest: 'yes',
      leaseMs: 1,
    } as const;
    const expiresAt = now() + hour;
    const fence = fenceOf(await guard.begin({ ...claim, expiresAt }));
    await guard.finish(fence, 'sealed');
    await pass(hour - 60_000);
    same(responseOf(await guard.begin({ ...claim, expiresAt })), 'sealed');
  });

  test('keeps a response as long as the longest time that any request for its turn asked for', async (made) => {
    const { guard, elsewhere, claim, begin, now, pass } = made;
    const [short, long] = [now() + 60_000, now() + hour];
    for (const [turn, first, second] of [
      [1, long, short],
      [2, short, long],
    ] as const) {
      await guard.release(fenceOf(await begin({ turn, request: 'brought', respondsUntil: first })));
      const again = await elsewhere.begin(claim({ turn, respondsUntil: second }));
      same(await elsewhere.finish(fenceOf(again), 'sealed'), true);
    }
    await pass(hour / 2);
    same(responseOf(await begin({ turn: 1 })), 'sealed');
    same(responseOf(await begin({ turn: 2 })), 'sealed');
    await pass(hour);
    same(await begin({ turn: 1 }), 'conflict');
  });

  test('stores sealed text unchanged, also long text and text outside of ASCII', async ({
    guard,
    begin,
  }) => {
    const sealed = `${'x'.repeat(1_000_000)} \u0000 € 🙂`;
    await guard.finish(fenceOf(await begin()), sealed);
    same(responseOf(await begin()), sealed);
  });

  test('allows one claim of a key, until it expires', async ({ guard, elsewhere, now, pass }) => {
    const expiresAt = now() + hour;
    const claimed = await Promise.all(
      Array.from({ length: 20 }, async (_, index) =>
        (index % 2 === 0 ? guard : elsewhere).claim('s:fire', expiresAt),
      ),
    );
    same(claimed.filter(Boolean).length, 1);
    same(await guard.claim('s:water', expiresAt), true);
    same(await guard.claim('t:fire', expiresAt), true);
    same(await guard.claim('a key without a saga', expiresAt), true);
    await pass(hour + 1_000);
    same(await guard.claim('s:fire', now() + hour), true);
  });

  test('begins no turn of a principal over the limit, and begins other turns', async (made) => {
    const { guard, elsewhere, claim, begin } = made;
    const charge = { to: 'ada', limit: 1_000 };
    await guard.finish(fenceOf(await begin({ charge, request: 'brought' })), 'x'.repeat(1_000));
    const next = { sagaId: 't', charge };
    same(await elsewhere.begin(claim(next)), 'full');
    same(await begin({ ...next, turn: 2, request: 'brought' }), 'full');
    // Nothing is left of a refused turn.
    fenceOf(await begin({ ...next, digest: 'no', charge: { ...charge, limit: 1_001 } }));
    same(await begin({ charge }), { response: 'x'.repeat(1_000), wentOn: false });
    fenceOf(await begin({ sagaId: 'u', charge: { ...charge, to: 'eve' } }));
    fenceOf(await begin({ sagaId: 'v' }));
  });

  test('counts a request during the turn, and always accepts an interrupted turn again', async (made) => {
    const { guard, begin, pass } = made;
    const charge = { to: 'ada', limit: 1_000 };
    const request = 'x'.repeat(1_000);
    const fence = fenceOf(await begin({ charge, request }));
    same(await begin({ turn: 2, charge }), 'full');
    await guard.finish(fence, 'sealed');
    const late = { turn: 2, charge, request };
    fenceOf(await begin(late));
    same(await begin({ turn: 3, charge }), 'full');
    await pass(70_000);
    const again = await begin(late);
    same(begunOf(again), request);
    same(await guard.finish(fenceOf(again), 'sealed'), true);
    same(await begin({ ...late, digest: 'no' }), 'conflict');
  });

  test('counts a response only while the guard stores it', async ({ guard, now, begin, pass }) => {
    const charge = { to: 'ada', limit: 1_000 };
    await guard.finish(fenceOf(await begin({ charge })), 'x'.repeat(1_000));
    same(await begin({ turn: 2, charge }), 'full');
    await pass(2 * hour);
    const times = { expiresAt: now() + hour, respondsUntil: now() + hour };
    fenceOf(await begin({ turn: 2, charge, ...times }));
  });
  return cases;
}
