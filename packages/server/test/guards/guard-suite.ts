import type { Fence, GuardClaim, GuardVerdict } from '@mcp-saga/server';
import * as fc from 'fast-check';
import { describe, expect, test as it } from 'vitest';
import { agrees, guardCommands } from './guard-model.ts';
import type { MakeGuard } from './guard-under-test.ts';

const hour = 3_600_000;

function fenceOf(verdict: GuardVerdict): Fence {
  if (typeof verdict !== 'object' || !('run' in verdict))
    throw new Error(`not run: ${JSON.stringify(verdict)}`);
  return verdict.run;
}

/** What every guard does, whatever it keeps its turns in. (T13) */
export function guardSuite(name: string, make: MakeGuard, runs: number): void {
  describe(`a guard ${name}`, () => {
    async function setUp() {
      const { guard, elsewhere, now, pass } = await make();
      const claim = (change: Partial<GuardClaim> = {}): GuardClaim => ({
        sagaId: 's',
        turn: 1,
        jti: 'token',
        action: 'resume',
        digest: 'yes',
        leaseMs: 60_000,
        expiresAt: now() + 2 * hour,
        respondsUntil: now() + hour,
        ...change,
      });
      const begin = async (change?: Partial<GuardClaim>) => await guard.begin(claim(change));
      return { guard, elsewhere, now, pass, claim, begin };
    }

    it('[T13] gives the same response to the same request, and refuses another one', async () => {
      const { guard, elsewhere, claim, begin } = await setUp();
      const fence = fenceOf(await begin());
      expect(await elsewhere.begin(claim())).toBe('busy');
      expect(await guard.finish(fence, 'sealed')).toBe(true);
      expect(await elsewhere.begin(claim())).toEqual({ response: 'sealed', wentOn: false });
      for (const other of [{ digest: 'no' }, { jti: 'another' }, { action: 'cancel' } as const]) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        expect(await begin(other)).toBe('conflict');
      }
      expect(await begin({ turn: 2 })).toHaveProperty('run');
      expect(await begin({ sagaId: 't', digest: 'no' })).toHaveProperty('run');
    });

    it('[T13] runs one of many that race', async () => {
      const { guard, elsewhere, claim } = await setUp();
      const verdicts = await Promise.all(
        Array.from({ length: 40 }, async (_, index) =>
          (index % 2 === 0 ? guard : elsewhere).begin(claim({ digest: `d${index % 3}` })),
        ),
      );
      expect(verdicts.filter((verdict) => typeof verdict === 'object')).toHaveLength(1);
      expect(new Set(verdicts.filter((verdict) => typeof verdict === 'string'))).toEqual(
        new Set(['busy', 'conflict']),
      );
    });

    it('[T13] leases a turn again to the same request when its lease ran out, and refuses the late finish', async () => {
      const { guard, elsewhere, claim, begin, pass } = await setUp();
      const late = fenceOf(await begin());
      await pass(70_000);
      expect(await begin({ digest: 'no' })).toBe('conflict');
      const fence = fenceOf(await elsewhere.begin(claim()));
      expect(fence.number).toBeGreaterThan(late.number);
      expect(await guard.finish(late, 'late')).toBe(false);
      await guard.release(late);
      expect(await guard.forget(late)).toBe(false);
      expect(await begin()).toBe('busy');
      expect(await elsewhere.finish(fence, 'sealed')).toBe(true);
      expect(await begin()).toMatchObject({ response: 'sealed' });
    });

    it('[T13] answers a request that follows with what was answered before, and never runs it again', async () => {
      const { guard, begin, pass } = await setUp();
      const following = { digest: 'none', follows: true };
      const fence = fenceOf(await begin());
      expect(await begin(following)).toBe('busy');
      expect(await begin({ ...following, jti: 'another' })).toBe('conflict');
      await pass(70_000);
      expect(await begin(following)).toBe('conflict');
      expect(await guard.finish(fence, 'sealed')).toBe(true);
      expect(await begin(following)).toMatchObject({ response: 'sealed' });
      expect(await begin({ turn: 2, ...following })).toHaveProperty('run');
    });

    it('[T13] hands a turn that was begun and never finished to a request that follows it, with what was brought', async () => {
      const { guard, elsewhere, claim, begin, pass } = await setUp();
      const following = { digest: 'none', follows: true };
      const late = fenceOf(await begin({ request: 'sealed answers' }));
      expect(await begin(following)).toBe('busy');
      await pass(70_000);
      expect(await begin({ ...following, follows: false })).toBe('conflict');
      const verdict = await elsewhere.begin(claim(following));
      expect(verdict).toHaveProperty('begun', 'sealed answers');
      expect(await guard.finish(late, 'late')).toBe(false);
      expect(await guard.finish(fenceOf(verdict), 'sealed')).toBe(true);
      expect(await begin()).toEqual({ response: 'sealed', wentOn: false });
    });

    it('[T13] [E1] hands the same request what it brought the first time, however often its lease runs out', async () => {
      const { guard, elsewhere, claim, begin, pass } = await setUp();
      const first = await begin({ request: 'first' });
      expect(Object.keys(first as object)).toEqual(['run']);
      await pass(70_000);
      expect(await elsewhere.begin(claim({ request: 'second' }))).toHaveProperty('begun', 'first');
      await pass(70_000);
      const third = await elsewhere.begin(claim({ request: 'third' }));
      expect(third).toHaveProperty('begun', 'first');
      await guard.release(fenceOf(third));
      const last = await begin({ follows: true });
      expect(last).toHaveProperty('begun', 'first');
      expect(await guard.finish(fenceOf(last), 'sealed')).toBe(true);
      // Where nothing was brought, or was forgotten, there is nothing to hand out.
      await guard.release(fenceOf(await begin({ turn: 2 })));
      expect(Object.keys((await begin({ turn: 2, request: 'late' })) as object)).toEqual(['run']);
      await guard.forget(fenceOf(await begin({ turn: 3, request: 'forgotten' })));
      await guard.release(fenceOf(await begin({ turn: 3, request: 'own' })));
      expect(await begin({ turn: 3 })).toHaveProperty('begun', 'own');
    });

    it('[T13] leaves a released turn to the same request alone', async () => {
      const { guard, begin } = await setUp();
      const fence = fenceOf(await begin());
      await guard.release(fence);
      expect(await begin({ digest: 'no' })).toBe('conflict');
      expect(await begin()).toHaveProperty('run');
      expect(await guard.finish(fence, 'late')).toBe(false);
    });

    it('[T13] [E8] hands a turn that was begun and never finished to who ends it, with what was brought', async () => {
      const { guard, elsewhere, claim, begin, pass } = await setUp();
      const ending = { action: 'cancel', digest: 'no', ends: true } as const;
      const late = fenceOf(await begin({ request: 'sealed answers' }));
      expect(await begin(ending)).toBe('busy');
      await pass(70_000);
      expect(await begin({ action: 'cancel', digest: 'no' })).toBe('conflict');
      expect(await begin({ ...ending, jti: 'another' })).toBe('conflict');
      const verdict = await elsewhere.begin(claim(ending));
      expect(verdict).toHaveProperty('begun', 'sealed answers');
      expect(await guard.finish(late, 'late')).toBe(false);
      expect(await guard.finish(fenceOf(verdict), 'sealed')).toBe(true);
      expect(await begin({ action: 'cancel', digest: 'no' })).toBe('conflict');
      expect(await begin(ending)).toEqual({ response: 'sealed', wentOn: false, other: true });
      // To the client that began it, it was its own.
      expect(await begin()).toMatchObject({ response: 'sealed' });
      // Where nothing was begun, there is nothing to end first.
      expect(Object.keys((await begin({ ...ending, turn: 2 })) as object)).toEqual(['run']);
      await guard.release(fenceOf(await begin({ turn: 3 })));
      expect(await begin({ ...ending, turn: 3 })).toBe('conflict');
    });

    it('[T13] lets a request wait for another one, and bring that one to its end', async () => {
      const { guard, elsewhere, begin, pass } = await setUp();
      const other = { digest: 'no', awaits: true };
      const late = fenceOf(await begin({ request: 'sealed request' }));
      expect(await begin({ digest: 'no' })).toBe('conflict');
      expect(await begin({ ...other, jti: 'another' })).toBe('conflict');
      expect(await begin(other)).toBe('busy');
      await pass(70_000);
      const verdict = await begin(other);
      expect(verdict).toMatchObject({ begun: 'sealed request', other: true });
      expect(await guard.finish(late, 'late')).toBe(false);
      expect(await elsewhere.forget(fenceOf(verdict))).toBe(true);
      const own = await begin(other);
      expect(own).not.toHaveProperty('begun');
      expect(await guard.finish(fenceOf(own), 'sealed')).toBe(true);
      expect(await begin({ awaits: true })).toBe('conflict');
    });

    it('[T13] lets nothing wait for a request that was not kept', async () => {
      const { begin } = await setUp();
      await begin();
      expect(await begin({ digest: 'no', awaits: true })).toBe('conflict');
    });

    it('[T13] forgets a turn that ran nothing, and the fence it had', async () => {
      const { guard, begin } = await setUp();
      const fence = fenceOf(await begin());
      expect(await guard.forget(fence)).toBe(true);
      const next = fenceOf(await begin({ jti: 'another', digest: 'no', action: 'cancel' }));
      expect(await guard.finish(fence, 'late')).toBe(false);
      await guard.forget(fence);
      expect(await guard.finish(next, 'sealed')).toBe(true);
      await guard.forget(next);
      await guard.release(next);
      expect(await begin()).toBe('conflict');
    });

    it('[T13] only releases a turn that was leased before: what was run then, nobody knows', async () => {
      const { guard, begin, pass } = await setUp();
      const late = fenceOf(await begin());
      await pass(70_000);
      expect(await guard.forget(fenceOf(await begin()))).toBe(true);
      expect(await begin({ digest: 'no' })).toBe('conflict');
      expect(await guard.finish(late, 'late')).toBe(false);
      expect(await begin()).toHaveProperty('run');
    });

    it('[T13] says whether the token of the next turn was used', async () => {
      const { guard, begin } = await setUp();
      await guard.finish(fenceOf(await begin()), 'sealed');
      await begin({ turn: 3 });
      expect(await begin()).toEqual({ response: 'sealed', wentOn: false });
      await begin({ turn: 2 });
      expect(await begin()).toEqual({ response: 'sealed', wentOn: true });
    });

    it('[T13] forgets a response before it forgets that the token was used', async () => {
      const { guard, begin, pass } = await setUp();
      await guard.finish(fenceOf(await begin()), 'sealed');
      await pass(hour + 1_000);
      expect(await begin()).toBe('conflict');
      await pass(hour);
      expect(await begin({ digest: 'no' })).toHaveProperty('run');
    });

    it('[T13] keeps a response for as long as the turn, where nothing else is said', async () => {
      const { guard, now, pass } = await setUp();
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
      expect(await guard.begin({ ...claim, expiresAt })).toMatchObject({ response: 'sealed' });
    });

    it('[T13] keeps what is sealed as it is, long or not of ASCII', async () => {
      const { guard, begin } = await setUp();
      const sealed = `${'x'.repeat(1_000_000)} \u0000 € 🙂`;
      await guard.finish(fenceOf(await begin()), sealed);
      expect(await begin()).toMatchObject({ response: sealed });
    });

    it('[T13] lets a key be claimed once, until it expires', async () => {
      const { guard, elsewhere, now, pass } = await setUp();
      const expiresAt = now() + hour;
      const claimed = await Promise.all(
        Array.from({ length: 20 }, async (_, index) =>
          (index % 2 === 0 ? guard : elsewhere).claim('s:fire', expiresAt),
        ),
      );
      expect(claimed.filter(Boolean)).toHaveLength(1);
      expect(await guard.claim('s:water', expiresAt)).toBe(true);
      expect(await guard.claim('t:fire', expiresAt)).toBe(true);
      expect(await guard.claim('a key without a saga', expiresAt)).toBe(true);
      await pass(hour + 1_000);
      expect(await guard.claim('s:fire', now() + hour)).toBe(true);
    });

    it('[T11] [T13] begins no turn of a principal for whom it keeps enough, and any other turn', async () => {
      const { guard, elsewhere, claim, begin } = await setUp();
      const owner = { id: 'ada', maxBytes: 1_000 };
      await guard.finish(fenceOf(await begin({ owner, request: 'brought' })), 'x'.repeat(1_000));
      const next = { sagaId: 't', owner };
      expect(await elsewhere.begin(claim(next))).toBe('full');
      expect(await begin({ ...next, turn: 2, request: 'brought' })).toBe('full');
      // Nothing is left of a turn that was refused.
      expect(await begin({ ...next, digest: 'no', owner: { ...owner, maxBytes: 1_001 } })).toHaveProperty(
        'run',
      );
      expect(await begin({ owner })).toEqual({ response: 'x'.repeat(1_000), wentOn: false });
      expect(await begin({ sagaId: 'u', owner: { ...owner, id: 'eve' } })).toHaveProperty('run');
      expect(await begin({ sagaId: 'v' })).toHaveProperty('run');
    });

    it('[T11] [T13] counts a request while its turn runs, and takes an interrupted turn again in any case', async () => {
      const { guard, begin, pass } = await setUp();
      const owner = { id: 'ada', maxBytes: 1_000 };
      const request = 'x'.repeat(1_000);
      const fence = fenceOf(await begin({ owner, request }));
      expect(await begin({ turn: 2, owner })).toBe('full');
      await guard.finish(fence, 'sealed');
      const late = { turn: 2, owner, request };
      expect(await begin(late)).toHaveProperty('run');
      expect(await begin({ turn: 3, owner })).toBe('full');
      await pass(70_000);
      const again = await begin(late);
      expect(again).toHaveProperty('begun', request);
      expect(await guard.finish(fenceOf(again), 'sealed')).toBe(true);
      expect(await begin({ ...late, digest: 'no' })).toBe('conflict');
    });

    it('[T11] [T13] counts a response no longer than it keeps it', async () => {
      const { guard, now, begin, pass } = await setUp();
      const owner = { id: 'ada', maxBytes: 1_000 };
      await guard.finish(fenceOf(await begin({ owner })), 'x'.repeat(1_000));
      expect(await begin({ turn: 2, owner })).toBe('full');
      await pass(2 * hour);
      const times = { expiresAt: now() + hour, respondsUntil: now() + hour };
      expect(await begin({ turn: 2, owner, ...times })).toHaveProperty('run');
    });

    it('[T13] agrees with its model, whatever is asked in whatever order', async () => {
      await fc.assert(
        fc.asyncProperty(guardCommands, async (commands) => agrees(await make(), commands)),
        { numRuns: runs },
      );
    });
  });
}
