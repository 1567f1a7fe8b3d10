import {
  checkpoint,
  createSagaHost,
  elicit,
  generateKey,
  pivot,
  saga,
  sample,
  step,
  TokenRefused,
  type SagaGuard,
  type SagaHost,
  type SagaHostOptions,
  type StepAnswer,
  type SuspendedSagaFacts,
} from '@mcp-saga/server';
import { describe, expect, test as it } from 'vitest';
import { z } from 'zod';
import { deferred } from '../fixtures/deferred.ts';
import { suspended } from '../fixtures/host.ts';
import type { MakeGuard } from './guard-under-test.ts';

const Ok = z.object({ ok: z.boolean() });
const hour = 3_600_000;

function answer(stepId: string, ok = true): StepAnswer[] {
  return [{ stepId, result: ok ? { action: 'accept', content: { ok } } : { action: 'decline' } }];
}

const gone = (): Promise<never> => Promise.reject(new Error('the store is gone'));

/** What two hosts do that share a guard and a key. (T13, E7, E8) */
export function guardedHostsSuite(name: string, make: MakeGuard): void {
  describe(`hosts that share a guard ${name}`, () => {
    async function setUp(options: Partial<SagaHostOptions> = {}, change: Partial<SagaGuard> = {}) {
      const { guard, elsewhere, now, pass } = await make();
      const did: string[] = [];
      const told: string[] = [];
      const facts: SuspendedSagaFacts[] = [];
      let ahead = 0;
      const errors: unknown[] = [];
      let hang: ((key: string) => Promise<void>) | undefined;
      const order = saga({ name: 'order', version: '1', forks: 'refuse' }, function* () {
        yield* step('charge', () => void did.push('charge'), { compensate: () => void did.push('refund') });
        yield* elicit('ship', { message: 'Ship?', schema: Ok });
        yield* step('ship', async ({ idempotencyKey }) => {
          did.push(`ship ${idempotencyKey}`);
          await hang?.(idempotencyKey);
        });
        yield* elicit('review', { message: 'Good?', schema: Ok });
        yield* step('thank', () => void did.push('thank'), { once: true });
        return 'thanks';
      });
      const common = {
        sagas: [order],
        keys: generateKey(),
        audience: 'shop',
        environment: 'production',
        clock: () => now() + ahead,
        hooks: {
          onError: (error: unknown) => void errors.push(error),
          onTurn: () => undefined,
          onReject: () => undefined,
          onSuspended: (suspendedSaga: SuspendedSagaFacts) => {
            facts.push(suspendedSaga);
            told.push(`suspended ${suspendedSaga.turn}`);
          },
          onSettled: () => void told.push('settled'),
        },
        ...options,
      };
      const hosts: [SagaHost, SagaHost] = [
        createSagaHost({ ...common, guard: { ...guard, ...change } }),
        createSagaHost({ ...common, guard: elsewhere }),
      ];
      const { token } = suspended(await hosts[0].start('order', {}));
      return {
        hosts,
        token,
        did,
        told,
        facts,
        errors,
        /** Lets so much time pass that every lease is out, and every token has expired. */
        expire: async () => {
          ahead += 3 * hour;
          await pass(70_000);
        },
        pass,
        /** Lets the step `ship` hang, the first time; resolves when it does, with what lets it go on. */
        hanging: (): Promise<() => void> => {
          const begun = deferred<() => void>();
          hang = () => {
            hang = undefined;
            return new Promise((resolve) => begun.resolve(resolve));
          };
          return begun.promise;
        },
      };
    }

    it('[T13] answers two requests that race alike, and runs one', async () => {
      const { hosts, token, did } = await setUp();
      const [one, two] = await Promise.all(hosts.map((host) => host.resume(token, answer('ship'))));
      expect(two).toEqual(one);
      expect(did).toHaveLength(2);
    });

    it('[T13] [E7] refuses other answers, and to cancel an older turn', async () => {
      const { hosts, token, did } = await setUp();
      const [one, other] = hosts;
      const next = suspended(await one.resume(token, answer('ship')));
      await expect(other.resume(token, answer('ship', false))).rejects.toThrow(TokenRefused);
      await expect(other.cancel(token)).rejects.toThrow(TokenRefused);
      expect(did).not.toContain('refund');
      expect(await other.cancel(next.token)).toMatchObject({ compensated: [{ stepId: 'charge' }] });
      expect(await one.cancel(next.token)).toMatchObject({ compensated: [{ stepId: 'charge' }] });
      await expect(one.resume(next.token, answer('review'))).rejects.toThrow(TokenRefused);
      expect(did.filter((effect) => effect === 'refund')).toHaveLength(1);
    });

    it('[T13] runs a turn again whose lease ran out, with the same keys, and refuses its late end', async () => {
      const { hosts, token, did, told, pass, hanging } = await setUp();
      const [one, other] = hosts;
      const hangs = hanging();
      const late = one.resume(token, answer('ship'));
      const goOn = await hangs;
      await pass(70_000);
      const next = await other.resume(token, answer('ship'));
      goOn();
      await expect(late).rejects.toMatchObject({ code: 'busy' });
      const [, first, second] = did;
      expect(second).toBe(first);
      expect(told).toEqual(['suspended 1', 'suspended 2']);
      expect(await one.resume(token, answer('ship'))).toEqual(next);
    });

    it('[T13] claims a step that runs once, on whichever host', async () => {
      const { hosts, token, did, pass } = await setUp({}, { finish: gone });
      const [one, other] = hosts;
      const next = suspended(await other.resume(token, answer('ship')));
      await expect(one.resume(next.token, answer('review'))).rejects.toMatchObject({ code: 'guard_down' });
      await pass(70_000);
      expect(await other.resume(next.token, answer('review'))).toMatchObject({ status: 'failed' });
      expect(did.filter((effect) => effect === 'thank')).toHaveLength(1);
    });

    it('[T13] does not run a step that runs once and cannot be claimed', async () => {
      const { hosts, token, did } = await setUp({}, { claim: gone });
      const [one, other] = hosts;
      const next = suspended(await other.resume(token, answer('ship')));
      expect(await one.resume(next.token, answer('review'))).toMatchObject({
        status: 'failed',
        compensated: [{ stepId: 'charge' }],
      });
      expect(did).not.toContain('thank');
    });

    it('[E8] tells again of a turn when its request is repeated, as if the first time had been lost', async () => {
      const { hosts, token, did, told, facts } = await setUp();
      const [one, other] = hosts;
      const next = suspended(await one.resume(token, answer('ship')));
      told.length = 0;
      await other.resume(token, answer('ship'));
      expect(told).toEqual(['suspended 2']);
      const [again, before] = [facts.at(-1), facts.at(-2)];
      expect({ ...again, cancelToken: '' }).toEqual({ ...before, cancelToken: '' });
      await expect(one.cancel(again?.cancelToken ?? '')).rejects.toThrow(TokenRefused);
      await other.resume(next.token, answer('review'));
      await one.resume(next.token, answer('review'));
      expect(told).toEqual(['suspended 2', 'settled', 'settled']);
      // Of a turn that its client went on from, nothing is told: what cancels it would take the newest one's place.
      await one.resume(token, answer('ship'));
      expect(told).toEqual(['suspended 2', 'settled', 'settled']);
      expect(did).toHaveLength(3);
    });

    it('[E8] undoes what an absent client left behind in a turn that was never finished, too', async () => {
      const { hosts, token, did, told, facts, expire, hanging } = await setUp();
      const [one, other] = hosts;
      const cancelToken = facts[0]?.cancelToken ?? '';
      const hangs = hanging();
      const aborting = new AbortController();
      const left = one.resume(token, answer('ship'), { signal: aborting.signal });
      const goOn = await hangs;
      // Its client goes while a step runs, and does not come back.
      aborting.abort();
      goOn();
      await expect(left).rejects.toThrow('aborted');
      await expire();
      expect(await other.cancel(cancelToken)).toMatchObject({
        status: 'failed',
        compensated: [{ stepId: 'charge' }],
      });
      const [charge, first, second, ...undone] = did;
      // Nobody knew what had become of the step: it was asked again, by the same key.
      expect([charge, second]).toEqual(['charge', first]);
      expect(undone).toEqual(['refund']);
      expect(told).toEqual(['suspended 1', 'suspended 2', 'settled']);
      await expect(other.cancel(cancelToken)).rejects.toThrow(TokenRefused);
    });

    it('[E8] [W7] runs no more of what was begun than its request would have', async () => {
      const { hosts, token, did, facts, expire } = await setUp({}, { finish: gone });
      const [one, other] = hosts;
      const looks = { traits: { runs: false } };
      await expect(one.resume(token, answer('ship'), {}, looks)).rejects.toMatchObject({
        code: 'guard_down',
      });
      await expire();
      expect(await other.cancel(facts[0]?.cancelToken ?? '')).toMatchObject({
        compensated: [{ stepId: 'charge' }],
      });
      expect(did).toEqual(['charge', 'refund']);
    });

    it('[E8] [W3] brings what was begun to its end as it would have been served to its client', async () => {
      const { guard, now, pass } = await make();
      const did: string[] = [];
      const facts: SuspendedSagaFacts[] = [];
      let ahead = 0;
      const advised = saga({ name: 'advised', version: '1', forks: 'refuse' }, function* () {
        yield* elicit('ship', { message: 'Ship?', schema: Ok });
        yield* sample('advice', { messages: [], maxTokens: 1 });
        yield* step('send', () => void did.push('send'), { compensate: () => void did.push('recall') });
        yield* elicit('review', { message: 'Good?', schema: Ok });
        return 'done';
      });
      const common = {
        sagas: [advised],
        keys: generateKey(),
        audience: 'shop',
        environment: 'production',
        clock: () => now() + ahead,
        // The client has no model, and the host has one.
        sampling: () =>
          ({ role: 'assistant', model: 'own', content: { type: 'text', text: 'yes' } }) as const,
        hooks: {
          onTurn: () => undefined,
          onError: () => undefined,
          onSuspended: (suspendedSaga: SuspendedSagaFacts) => void facts.push(suspendedSaga),
        },
      };
      const dying = createSagaHost({ ...common, guard: { ...guard, finish: gone } });
      const client = { capabilities: { elicitation: {} } };
      const { token } = suspended(await dying.start('advised', {}, client));
      await expect(dying.resume(token, answer('ship'), client)).rejects.toMatchObject({ code: 'guard_down' });
      ahead = 3 * hour;
      await pass(70_000);
      const host = createSagaHost({ ...common, guard });
      expect(await host.cancel(facts[0]?.cancelToken ?? '')).toMatchObject({
        compensated: [{ stepId: 'send' }],
      });
      expect(did).toEqual(['send', 'send', 'recall']);
    });

    it('[E8] tells the queue again of a turn that its client went to, and left, where that was lost', async () => {
      const { hosts, token, did, told, facts, expire } = await setUp();
      const [one, other] = hosts;
      const cancelToken = facts[0]?.cancelToken ?? '';
      // The process died when the turn was kept, and before the queue was told.
      suspended(await one.resume(token, answer('ship')));
      told.length = 0;
      facts.length = 0;
      await expire();
      await expect(other.cancel(cancelToken)).rejects.toThrow(TokenRefused);
      expect(told).toEqual(['suspended 2']);
      expect(did).not.toContain('refund');
      await expire();
      const again = facts[0]?.cancelToken ?? '';
      expect(await other.cancel(again)).toMatchObject({ compensated: [{ stepId: 'charge' }] });
      // Of a saga that has ended, nothing but that.
      await expect(other.cancel(cancelToken)).rejects.toThrow(TokenRefused);
      expect(await other.cancel(again)).toMatchObject({ compensated: [{ stepId: 'charge' }] });
      expect(told).toEqual(['suspended 2', 'settled', 'settled']);
    });

    it('[E3] [E8] tells what could not be undone, should its client not hear of it', async () => {
      const { guard, now } = await make();
      const left: unknown[] = [];
      const stuck = saga({ name: 'stuck', version: '1', forks: 'refuse' }, function* () {
        yield* step('charge', () => 1, { compensate: gone, undo: { retry: 1 }, label: 'charge 1' });
        yield* elicit('ship', { message: 'Ship?', schema: Ok });
        return 'shipped';
      });
      const host = createSagaHost({
        sagas: [stuck],
        keys: generateKey(),
        audience: 'shop',
        guard,
        clock: now,
        hooks: { onTurn: () => undefined, onSettled: (settled) => void left.push(settled) },
      });
      const one = suspended(await host.start('stuck', {}));
      const other = suspended(await host.start('stuck', {}));
      await host.resume(one.token, answer('ship', false));
      await host.resume(one.token, answer('ship', false));
      await host.resume(other.token, answer('ship'));
      const residue = [{ stepId: 'charge', label: 'charge 1' }];
      const settled = { saga: 'stuck', sagaId: one.sagaId, residue };
      expect(left).toEqual([settled, settled, { saga: 'stuck', sagaId: other.sagaId, residue: [] }]);
    });

    it('[E5] [E8] goes forward past a pivot, as far as that goes without its client', async () => {
      const { guard, now } = await make();
      const did: string[] = [];
      const facts: SuspendedSagaFacts[] = [];
      let ahead = 0;
      const parcel = (called: string, asksAfter: boolean) =>
        saga({ name: called, version: '1', forks: 'refuse' }, function* () {
          yield* step('charge', () => void did.push('charge'), { compensate: () => void did.push('refund') });
          yield* pivot('charged');
          yield* step('pack', () => void did.push('pack'), { compensate: () => void did.push('unpack') });
          yield* checkpoint();
          yield* step('ship', () => void did.push('ship'));
          yield* checkpoint();
          if (asksAfter) yield* elicit('review', { message: 'Good?', schema: Ok });
          yield* step('thank', () => void did.push('thank'));
          return 'on its way';
        });
      const host = createSagaHost({
        sagas: [parcel('parcel', false), parcel('asking', true)],
        keys: generateKey(),
        audience: 'shop',
        guard,
        clock: () => now() + ahead,
        hooks: {
          onTurn: () => undefined,
          onSuspended: (suspendedSaga: SuspendedSagaFacts) => void facts.push(suspendedSaga),
        },
      });
      suspended(await host.start('parcel', {}));
      suspended(await host.start('asking', {}));
      const { token } = suspended(await host.start('parcel', {}));
      // To its client, which is there, nothing happens but what it asked for.
      did.length = 0;
      expect(await host.cancel(token)).toMatchObject({ status: 'failed', compensated: [{ stepId: 'pack' }] });
      expect(did).toEqual(['unpack']);
      ahead = 3 * hour;
      const [whole, asking] = facts.splice(0) as [SuspendedSagaFacts, SuspendedSagaFacts];
      did.length = 0;
      expect(await host.cancel(whole.cancelToken)).toMatchObject({
        status: 'completed',
        result: 'on its way',
      });
      expect(did.splice(0)).toEqual(['ship', 'thank']);
      // Where its client is needed it ends, and what came after the pivot is undone.
      expect(await host.cancel(asking.cancelToken)).toMatchObject({
        status: 'failed',
        compensated: [{ stepId: 'pack' }],
        residue: [],
      });
      expect(did).toEqual(['ship', 'unpack']);
      expect(facts.map(({ saga: of, turn }) => `${of} ${turn}`)).toEqual([
        'parcel 2',
        'asking 2',
        'asking 3',
      ]);
    });

    it('[E8] brings what was begun to its end with what was kept of it, and with nothing else', async () => {
      const { guard, elsewhere, now, pass } = await make();
      const kept: string[] = [];
      const keeps: SagaGuard = {
        ...guard,
        begin: (claim) => {
          if (claim.request !== undefined) kept.push(claim.request);
          return guard.begin(claim);
        },
        finish: (fence, sealed) => {
          kept.push(sealed);
          return fence.turn === 2 ? false : guard.finish(fence, sealed);
        },
      };
      const did: string[] = [];
      const facts: SuspendedSagaFacts[] = [];
      let ahead = 0;
      const two = saga({ name: 'two', version: '1', forks: 'refuse' }, function* () {
        yield* elicit('ship', { message: 'Ship?', schema: Ok });
        yield* elicit('review', { message: 'Good?', schema: Ok });
        yield* step('thank', () => void did.push('thank'));
        return 'done';
      });
      const common = {
        sagas: [two],
        keys: generateKey(),
        audience: 'shop',
        clock: () => now() + ahead,
        hooks: {
          onReject: () => undefined,
          onSuspended: (suspendedSaga: SuspendedSagaFacts) => void facts.push(suspendedSaga),
        },
      };
      const host = createSagaHost({ ...common, guard: keeps });
      const one = suspended(await host.start('two', {}));
      const next = suspended(await host.resume(one.token, answer('ship')));
      await expect(host.resume(next.token, answer('review'))).rejects.toMatchObject({ code: 'busy' });
      expect(kept).toHaveLength(4);
      ahead = 3 * hour;
      await pass(70_000);
      const { cancelToken } = facts.at(-1) as SuspendedSagaFacts;
      did.length = 0;
      for (const begun of [kept[0], kept[1], kept[3], 'nothing']) {
        const mixed: SagaGuard = {
          ...elsewhere,
          begin: async (claim) => {
            const verdict = await elsewhere.begin(claim);
            return typeof verdict === 'object' && 'begun' in verdict
              ? { ...verdict, begun: begun ?? '' }
              : verdict;
          },
        };
        const other = createSagaHost({ ...common, guard: mixed });
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await expect(other.cancel(cancelToken)).rejects.toThrow(TokenRefused);
        expect(did).toEqual([]);
      }
      // It ends there, and nothing is left to be undone.
      const last = createSagaHost({ ...common, guard: elsewhere });
      expect(await last.cancel(cancelToken)).toMatchObject({ status: 'completed', result: 'done' });
      expect(did).toEqual(['thank']);
    });

    it('[T13] refuses a response that was kept for another token', async () => {
      const { guard, elsewhere, now } = await make();
      const mixed: SagaGuard = {
        ...elsewhere,
        begin: async (claim) => {
          const verdict = await elsewhere.begin(claim);
          return typeof verdict === 'object' && 'response' in verdict ? { response: kept } : verdict;
        },
      };
      let kept = '';
      const keeps: SagaGuard = {
        ...guard,
        finish: (fence, sealed) => {
          if (fence.turn === 1) kept = sealed;
          return guard.finish(fence, sealed);
        },
      };
      const two = saga({ name: 'two', version: '1', forks: 'refuse' }, function* () {
        yield* elicit('ship', { message: 'Ship?', schema: Ok });
        yield* elicit('review', { message: 'Good?', schema: Ok });
        return 'done';
      });
      const reasons: string[] = [];
      const common = {
        sagas: [two],
        keys: generateKey(),
        audience: 'shop',
        clock: now,
        hooks: { onReject: ({ reason }: { readonly reason: string }) => void reasons.push(reason) },
      };
      const host = createSagaHost({ ...common, guard: keeps });
      const one = suspended(await host.start('two', {}));
      const next = suspended(await host.resume(one.token, answer('ship')));
      await host.resume(next.token, answer('review'));
      const other = createSagaHost({ ...common, guard: mixed });
      expect(await other.resume(one.token, answer('ship'))).toMatchObject({ token: next.token });
      await expect(other.resume(next.token, answer('review'))).rejects.toThrow(TokenRefused);
      expect(reasons).toEqual(['used']);
    });

    it('[T13] runs nothing, or keeps nothing, while the guard is down', async () => {
      const { hosts, token, did, pass } = await setUp({}, { finish: gone });
      const [one, other] = hosts;
      await expect(one.resume(token, answer('ship'))).rejects.toMatchObject({ code: 'guard_down' });
      // Nobody knows on the other host that it has run: the lease has to end, and it runs with the same key.
      await pass(70_000);
      suspended(await other.resume(token, answer('ship')));
      const [, first, second] = did;
      expect(second).toBe(first);
    });

    it("[T13] gives the response of a turn that cannot be kept, told 'open'", async () => {
      const { hosts, token, told, errors } = await setUp({ whenGuardIsDown: 'open' }, { finish: gone });
      suspended(await hosts[0].resume(token, answer('ship')));
      expect(told).toEqual(['suspended 1', 'suspended 2']);
      expect(errors).toMatchObject([{ message: 'the store is gone' }]);
    });

    it("[T13] runs unguarded while the guard is down, told 'open'", async () => {
      const { hosts, token, did } = await setUp({ whenGuardIsDown: 'open' }, { begin: gone });
      suspended(await hosts[0].resume(token, answer('ship')));
      await hosts[0].resume(token, answer('ship', false));
      expect(did).toContain('refund');
    });
  });
}
