import {
  all,
  checkpoint,
  createSagaHost,
  elicit,
  generateKey,
  race,
  saga,
  sleep,
  step,
  StepTimedOut,
  type SagaHost,
  type SagaStore,
  type Steps,
} from '@mcp-saga/server';
import * as fc from 'fast-check';
import { describe, expect, test as it } from 'vitest';
import { deferred } from '../fixtures/deferred.ts';
import { suspended } from '../fixtures/host.ts';
import type { StoreUnderTest } from '../../../testing/src/stores.ts';
import { answer, gone, hour, Ok } from './guarded-hosts.ts';
import { decidingSaga, HonestClient, moves, pagesOf, parts, type World } from './honest-client.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const quiet = {
  onTurn: () => undefined,
  onReject: () => undefined,
  onError: () => undefined,
  onWarning: () => undefined,
  onIgnoredAnswer: () => undefined,
};

/**
 * A client asks again without answers, the time of a wait comes, and a copy of that request arrives
 * late. The copy moves the saga on, and nobody reads its response. No host has a queue.
 */
export function lateCopiesSuite(
  name: string,
  make: () => Promise<StoreUnderTest>,
  { runs = 15 } = {},
): void {
  describe(`a late copy of a request without answers, with a store ${name}`, () => {
    /** Two hosts that share a guard, keys, and a clock that runs ahead of the guard's. */
    async function world() {
      const { store, elsewhere, now, pass } = await make();
      const keys = generateKey();
      let ahead = 0;
      const hostOf = (body: () => Steps<string>, of: SagaStore, commitEach: boolean) =>
        createSagaHost({
          sagas: [saga({ name: 'order', version: '1', commitEach }, body)],
          keys,
          name: 'shop',
          testing: { environment: 'production', clock: () => now() + ahead },
          store: of,
          limits: { maxHold: 0, tokenTtl: 1_000 * hour, maxLifetime: 2_000 * hour },
          hooks: quiet,
        });
      return {
        hosts: (body: () => Steps<string>, commitEach = false): [SagaHost, SagaHost] => [
          hostOf(body, store, commitEach),
          hostOf(body, elsewhere, commitEach),
        ],
        /** A host that dies before the guard has stored the response of a turn. */
        dying: (body: () => Steps<string>) =>
          hostOf(
            body,
            storeWithGuard(() => ({ finish: gone }), store),
            false,
          ),
        wait: (ms: number): void => void (ahead += ms),
        pass,
      };
    }

    const ask = (stepId: string, options: { readonly timeout?: number } = {}) =>
      elicit(stepId, { message: 'Sure?', schema: Ok, ...options });

    /** Sleeps and packs beside a question, then thanks. */
    const packs = (did: string[], hang: () => Promise<void> = async () => undefined) =>
      function* (): Steps<string> {
        const { sure } = yield* all({
          sure: ask('sure'),
          later: (function* () {
            yield* sleep(hour);
            const pack = async (): Promise<void> => {
              did.push('pack');
              await hang();
            };
            yield* step('pack', pack, { compensate: () => void did.push('unpack') });
            yield* sleep(hour);
          })(),
        });
        yield* step('thank', () => void did.push(`thank ${sure.ok}`));
        return `sure: ${sure.ok}`;
      };

    it('[E1] [W4] leaves the answer of the client to the newest turn, once', async () => {
      const did: string[] = [];
      const { hosts, wait } = await world();
      const [host, other] = hosts(packs(did));
      const { token } = suspended(await host.start('order', {}));
      wait(hour);
      suspended(await other.resume(token));
      const next = suspended(await host.resume(token, answer('sure')));
      // Repeated, the answer gets the same response.
      expect(await other.resume(token, answer('sure'))).toMatchObject({ token: next.token });
      wait(hour);
      const end = { status: 'completed', result: 'sure: true' };
      expect(await other.resume(next.token)).toMatchObject(end);
      expect(await host.resume(token, answer('sure'))).toMatchObject(end);
      expect(did).toEqual(['pack', 'thank true']);
    });

    it('[E7] [W4] does not admit another answer than that of the client', async () => {
      const did: string[] = [];
      const { hosts, wait } = await world();
      const [host, other] = hosts(packs(did));
      const { token } = suspended(await host.start('order', {}));
      wait(hour);
      const copied = suspended(await other.resume(token));
      const next = suspended(await host.resume(token, answer('sure')));
      for (const used of [token, copied.token]) {
        const forked = other.resume(used, answer('sure', false));
        await expect(forked).rejects.toMatchObject({ reason: 'used' });
      }
      wait(hour);
      expect(await host.resume(next.token)).toMatchObject({ result: 'sure: true' });
    });

    it('[W4] [T6] leaves the newest question to a client whose own question is closed', async () => {
      const bodies = {
        timeout: function* (): Steps<string> {
          try {
            yield* ask('sure', { timeout: hour });
            return 'in time';
          } catch (error) {
            if (!(error instanceof StepTimedOut)) throw error;
          }
          return `next: ${(yield* ask('next')).ok}`;
        },
        race: function* (): Steps<string> {
          yield* race({ sure: ask('sure'), late: sleep(hour) });
          return `next: ${(yield* ask('next')).ok}`;
        },
      };
      const { hosts, wait } = await world();
      for (const body of Object.values(bodies)) {
        const [host, other] = hosts(body);
        const { token } = suspended(await host.start('order', {}));
        wait(2 * hour);
        suspended(await other.resume(token));
        const next = suspended(await host.resume(token, answer('sure')));
        expect(next).toMatchObject({ steps: [{ stepId: 'next' }], unknown: ['sure'] });
        expect(await other.resume(next.token, answer('next'))).toMatchObject({
          result: 'next: true',
        });
      }
    });

    it('[E7] [E8] does not keep the client from cancelling the newest turn', async () => {
      const did: string[] = [];
      const { hosts, wait } = await world();
      const [host, other] = hosts(packs(did));
      const { token } = suspended(await host.start('order', {}));
      wait(hour);
      suspended(await other.resume(token));
      const end = { status: 'failed', compensated: [{ stepId: 'later/pack' }] };
      expect(await host.cancel(token)).toMatchObject(end);
      expect(await other.cancel(token)).toMatchObject(end);
      await expect(host.resume(token, answer('sure'))).rejects.toMatchObject({ reason: 'used' });
      expect(did).toEqual(['pack', 'unpack']);
    });

    it('[W4] does not take a page from the client', async () => {
      const { hosts, wait } = await world();
      const [host, other] = hosts(function* () {
        const { sure } = yield* all({
          sure: ask('sure'),
          later: (function* () {
            yield* sleep(hour);
            yield* checkpoint('page 1');
          })(),
        });
        return `sure: ${sure.ok}`;
      });
      const { token } = suspended(await host.start('order', {}));
      wait(hour);
      suspended(await other.resume(token));
      const page = suspended(await host.resume(token, answer('sure')));
      expect(page).toMatchObject({ content: ['page 1'], steps: [{ stepId: 'sure' }] });
      expect(await other.resume(page.token, answer('sure'))).toMatchObject({
        result: 'sure: true',
      });
    });

    it('[W4] [T13] lets an answer wait until its turn ends', async () => {
      const did: string[] = [];
      const begun = deferred<() => void>();
      const { hosts, wait } = await world();
      const [host, other] = hosts(
        packs(did, () => new Promise((resolve) => begun.resolve(resolve))),
      );
      const { token } = suspended(await host.start('order', {}));
      wait(hour);
      const copy = other.resume(token);
      const goOn = await begun.promise;
      const answered = host.resume(token, answer('sure'));
      goOn();
      suspended(await copy);
      const { token: next } = suspended(await answered);
      wait(hour);
      expect(await other.resume(next)).toMatchObject({ result: 'sure: true' });
      expect(did).toEqual(['pack', 'thank true']);
    });

    it('[E1] [E8] [T13] whose process died is finished before the answer of the client', async () => {
      const did: string[] = [];
      const { hosts, dying, wait, pass } = await world();
      const [host] = hosts(packs(did));
      const { token } = suspended(await host.start('order', {}));
      wait(hour);
      await expect(dying(packs(did)).resume(token)).rejects.toMatchObject({ code: 'guard_down' });
      await pass(70_000);
      const { token: next } = suspended(await host.resume(token, answer('sure')));
      wait(hour);
      expect(await host.resume(next)).toMatchObject({ result: 'sure: true' });
      expect(did).toEqual(['pack', 'pack', 'thank true']);
    });

    it('[E1] [E7] [W4] in any order with answers and further copies loses and repeats nothing', async () => {
      await fc.assert(
        fc.asyncProperty(parts, moves, fc.boolean(), async (of, made, commitEach) => {
          const { hosts, wait } = await world();
          const decided: string[] = [];
          const shared: World = { hosts: hosts(decidingSaga(of, decided), commitEach), wait };
          const client = new HonestClient(shared, decided);
          await client.start();
          for (const move of made) await client.make(move);
          await client.finish();
          expect(client.pages).toEqual(pagesOf(of));
          const story = JSON.stringify({ decided, answered: [...client.counted] });
          expect(client.problems, story).toEqual([]);
          expect(new Set(decided).size, story).toBe(decided.length);
          for (const [stepId, ok] of client.counted)
            expect(decided, story).toContain(`${stepId}.${ok}`);
        }),
        { numRuns: runs },
      );
    });
  });
}
