import type { Fence } from '@mcp-saga/server/internal';
import { collectCases, same, type ConformanceCase } from './conformance-case.ts';
import { begunOf, fenceOf, responseOf, setUpGuard, type GuardUnderTest } from './guard-requests.ts';

/** One request per turn: runs, waits, continues another request, or is refused. */
export function guardTurns(make: () => Promise<GuardUnderTest>): readonly ConformanceCase[] {
  const { cases, test } = collectCases(() => setUpGuard(make));

  test('repeats the response to the same request, and refuses a different request', async (made) => {
    const { guard, elsewhere, claim, begin } = made;
    const fence = fenceOf(await begin());
    same(await elsewhere.begin(claim()), 'busy');
    same(await guard.finish(fence, 'sealed'), true);
    same(await elsewhere.begin(claim()), { response: 'sealed', wentOn: false });
    for (const other of [{ digest: 'no' }, { jti: 'another' }, { action: 'cancel' } as const]) {
      same(await begin(other), 'conflict');
    }
    fenceOf(await begin({ turn: 2 }));
    fenceOf(await begin({ sagaId: 't', digest: 'no' }));
  });

  test('runs one of many concurrent requests', async ({ guard, elsewhere, claim }) => {
    const verdicts = await Promise.all(
      Array.from({ length: 40 }, async (_, index) =>
        (index % 2 === 0 ? guard : elsewhere).begin(claim({ digest: `d${index % 3}` })),
      ),
    );
    same(verdicts.filter((verdict) => typeof verdict === 'object').length, 1);
    const refused = new Set(verdicts.filter((verdict) => typeof verdict === 'string'));
    same([...refused].toSorted(), ['busy', 'conflict']);
  });

  test('leases a turn again to the same request after the lease has expired, and refuses the late finish', async (made) => {
    const { guard, elsewhere, claim, begin, pass } = made;
    const late = fenceOf(await begin());
    await pass(70_000);
    same(await begin({ digest: 'no' }), 'conflict');
    const fence = fenceOf(await elsewhere.begin(claim()));
    same(fence.number > late.number, true);
    same(await guard.finish(late, 'late'), false);
    await guard.release(late);
    same(await guard.forget(late), false);
    same(await begin(), 'busy');
    same(await elsewhere.finish(fence, 'sealed'), true);
    same(responseOf(await begin()), 'sealed');
  });

  test('lets a renewed lease count from its renewal, and ends it as any other', async (made) => {
    const { guard, elsewhere, claim, begin, pass } = made;
    const charge = { to: 'ada', limit: 1_000 };
    for (const [turn, end] of [
      [1, async (fence: Fence) => same(await guard.finish(fence, 'sealed'), true)],
      [2, async (fence: Fence) => same(await guard.forget(fence), true)],
      [3, async (fence: Fence) => guard.release(fence)],
    ] as const) {
      const request = { turn, request: 'sealed answers', charge };
      const fence = fenceOf(await begin(request));
      for (let count = 0; count < 3; count += 1) {
        await pass(40_000);
        same(await guard.renew(fence), true);
        same(await elsewhere.begin(claim(request)), 'busy');
      }
      await end(fence);
      same(await guard.renew(fence), false);
    }
    same(responseOf(await begin({ turn: 1 })), 'sealed');
    fenceOf(await begin({ turn: 2, digest: 'no' }));
    same(begunOf(await begin({ turn: 3 })), 'sealed answers');
  });

  test('renews no lease that another request has taken over', async (made) => {
    const { guard, elsewhere, claim, begin, pass } = made;
    const late = fenceOf(await begin());
    await pass(70_000);
    const fence = fenceOf(await elsewhere.begin(claim()));
    same(await guard.renew(late), false);
    same(await elsewhere.renew(fence), true);
    same(await guard.finish(late, 'late'), false);
    await pass(70_000);
    // An expired lease that nobody took over can be renewed.
    same(await elsewhere.renew(fence), true);
    same(await begin(), 'busy');
    same(await elsewhere.finish(fence, 'sealed'), true);
  });

  test('answers a following request with the stored response, and never runs the turn again', async (made) => {
    const { guard, begin, pass } = made;
    const following = { digest: 'none', follows: true };
    const fence = fenceOf(await begin());
    same(await begin(following), 'busy');
    same(await begin({ ...following, jti: 'another' }), 'conflict');
    await pass(70_000);
    same(await begin(following), 'conflict');
    same(await guard.finish(fence, 'sealed'), true);
    same(responseOf(await begin(following)), 'sealed');
    fenceOf(await begin({ turn: 2, ...following }));
  });

  test('passes an interrupted turn to a following request, with the request of the turn', async (made) => {
    const { guard, elsewhere, claim, begin, pass } = made;
    const following = { digest: 'none', follows: true };
    const late = fenceOf(await begin({ request: 'sealed answers' }));
    same(await begin(following), 'busy');
    await pass(70_000);
    same(await begin({ ...following, follows: false }), 'conflict');
    const verdict = await elsewhere.begin(claim(following));
    same(begunOf(verdict), 'sealed answers');
    same(await guard.finish(late, 'late'), false);
    same(await guard.finish(fenceOf(verdict), 'sealed'), true);
    same(await begin(), { response: 'sealed', wentOn: false });
  });

  test('passes the stored first request to a repeated one, after any number of expired leases', async (made) => {
    const { guard, elsewhere, claim, begin, pass } = made;
    const first = await begin({ request: 'first' });
    same(Object.keys(first as object), ['run']);
    await pass(70_000);
    same(begunOf(await elsewhere.begin(claim({ request: 'second' }))), 'first');
    await pass(70_000);
    const third = await elsewhere.begin(claim({ request: 'third' }));
    same(begunOf(third), 'first');
    await guard.release(fenceOf(third));
    const last = await begin({ follows: true });
    same(begunOf(last), 'first');
    same(await guard.finish(fenceOf(last), 'sealed'), true);
    // Nothing to hand out if no request was stored, or the guard forgot.
    await guard.release(fenceOf(await begin({ turn: 2 })));
    same(Object.keys((await begin({ turn: 2, request: 'late' })) as object), ['run']);
    await guard.forget(fenceOf(await begin({ turn: 3, request: 'forgotten' })));
    await guard.release(fenceOf(await begin({ turn: 3, request: 'own' })));
    same(begunOf(await begin({ turn: 3 })), 'own');
  });

  test('leaves a released turn to the same request only', async ({ guard, begin }) => {
    const fence = fenceOf(await begin());
    await guard.release(fence);
    same(await begin({ digest: 'no' }), 'conflict');
    fenceOf(await begin());
    same(await guard.finish(fence, 'late'), false);
  });

  test('passes an interrupted turn to a request for its end, with the request of the turn', async (made) => {
    const { guard, elsewhere, claim, begin, pass } = made;
    const ending = { action: 'cancel', digest: 'no', ends: true } as const;
    const late = fenceOf(await begin({ request: 'sealed answers' }));
    same(await begin(ending), 'busy');
    await pass(70_000);
    same(await begin({ action: 'cancel', digest: 'no' }), 'conflict');
    same(await begin({ ...ending, jti: 'another' }), 'conflict');
    const verdict = await elsewhere.begin(claim(ending));
    same(begunOf(verdict), 'sealed answers');
    same(await guard.finish(late, 'late'), false);
    same(await guard.finish(fenceOf(verdict), 'sealed'), true);
    same(await begin({ action: 'cancel', digest: 'no' }), 'conflict');
    same(await begin(ending), { response: 'sealed', wentOn: false, other: true });
    // The client that began the turn got its own response.
    same(responseOf(await begin()), 'sealed');
    // No interrupted request to end first.
    same(Object.keys((await begin({ ...ending, turn: 2 })) as object), ['run']);
    await guard.release(fenceOf(await begin({ turn: 3 })));
    same(await begin({ ...ending, turn: 3 }), 'conflict');
  });

  test('delays a request during a different one, and lets it finish the turn of the latter', async (made) => {
    const { guard, elsewhere, begin, pass } = made;
    const other = { digest: 'no', awaits: true };
    const late = fenceOf(await begin({ request: 'sealed request' }));
    same(await begin({ digest: 'no' }), 'conflict');
    same(await begin({ ...other, jti: 'another' }), 'conflict');
    same(await begin(other), 'busy');
    await pass(70_000);
    const verdict = await begin(other);
    same(begunOf(verdict), 'sealed request');
    same((verdict as { readonly other?: unknown }).other, true);
    same(await guard.finish(late, 'late'), false);
    same(await elsewhere.forget(fenceOf(verdict)), true);
    const own = await begin(other);
    same(begunOf(own), undefined);
    same(await guard.finish(fenceOf(own), 'sealed'), true);
    same(await begin({ awaits: true }), 'conflict');
  });

  test('delays no request during a request without a stored record', async ({ begin }) => {
    await begin();
    same(await begin({ digest: 'no', awaits: true }), 'conflict');
  });

  test('forgets a turn without effects, and its fence', async ({ guard, begin }) => {
    const fence = fenceOf(await begin());
    same(await guard.forget(fence), true);
    const next = fenceOf(await begin({ jti: 'another', digest: 'no', action: 'cancel' }));
    same(await guard.finish(fence, 'late'), false);
    await guard.forget(fence);
    same(await guard.finish(next, 'sealed'), true);
    await guard.forget(next);
    await guard.release(next);
    same(await begin(), 'conflict');
  });

  test('only releases an earlier leased turn, because of unknown effects', async ({
    guard,
    begin,
    pass,
  }) => {
    const late = fenceOf(await begin());
    await pass(70_000);
    same(await guard.forget(fenceOf(await begin())), true);
    same(await begin({ digest: 'no' }), 'conflict');
    same(await guard.finish(late, 'late'), false);
    fenceOf(await begin());
  });
  return cases;
}
