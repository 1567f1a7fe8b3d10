import {
  createSagaHost,
  elicit,
  generateKey,
  saga,
  step,
  type SagaHost,
  type SagaStore,
} from '@mcp-saga/server';
import type { GuardClaim, GuardVerdict, SagaGuard } from '@mcp-saga/server/internal';
import { describe, expect, test as it } from 'vitest';
import { suspended } from '../fixtures/host.ts';
import type { StoreUnderTest } from '../../../testing/src/stores.ts';
import { answer, drivenQueue, gone, hour, Ok, recordedEnds } from './guarded-hosts.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const minute = 60_000;

type Change = (guard: SagaGuard) => Partial<SagaGuard>;

/**
 * Turns that are interrupted by the death of their process, and repeated after further deadlines.
 * (E1, E8, T13)
 */
export function repeatedTurnsSuite(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`an interrupted turn that is repeated, with a store ${name}`, () => {
    /**
     * A saga that charges where an answer comes in half an hour; its clock, and hosts that finish
     * turns or lose them.
     */
    async function setUp() {
      const { store, elsewhere, now, pass } = await make();
      const keys = generateKey();
      const did: string[] = [];
      const ended = recordedEnds();
      let ahead = 0;
      const order = saga({ name: 'order', version: '1' }, function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Ok, timeout: 30 * minute });
        yield* step('charge', ({ idempotencyKey }) => void did.push(`charge ${idempotencyKey}`), {
          compensate: ({ stepKey }) => void did.push(`refund ${stepKey}`),
        });
        yield* elicit('more', { message: 'More?', schema: Ok });
        return 'done';
      });
      const clock = (): number => now() + ahead;
      const { queue, newest, deliver, drain } = drivenQueue(clock, pass);
      const host = (change: Change = () => ({}), of: SagaStore = elsewhere): SagaHost =>
        createSagaHost({
          sagas: [order],
          keys,
          name: 'shop',
          testing: { environment: 'production', clock },
          hooks: {
            ...ended.hooks,
            onError: () => undefined,
            onReject: () => undefined,
          },
          queue,
          store: storeWithGuard(change, of),
        });
      const { token } = suspended(await host().start('order', {}));
      const asked = newest();
      ahead = 29 * minute;
      const lost = host(() => ({ finish: gone }), store);
      return {
        host,
        token,
        did,
        pass,
        ended,
        /** Message of the question, for the time after its timeout. */
        asked,
        newest,
        deliver,
        drain,
        /** Takes the turn on a host that dies before it is kept. */
        lose: async () => {
          await expect(lost.resume(token, answer('sure'))).rejects.toMatchObject({
            code: 'guard_down',
          });
          await pass(70_000);
        },
        wait: (ms: number) => void (ahead += ms),
      };
    }

    /** A guard that changes the record of an interrupted turn. */
    const handing =
      (change: (begun: string, claim: GuardClaim) => Promise<string | undefined>): Change =>
      (guard) => ({
        begin: async (claim): Promise<GuardVerdict> => {
          const verdict = await guard.begin(claim);
          if (
            typeof verdict !== 'object' ||
            !('run' in verdict) ||
            verdict.interrupted === undefined
          )
            return verdict;
          const begun = await change(verdict.interrupted, claim);
          return begun === undefined
            ? { run: verdict.run }
            : { run: verdict.run, interrupted: begun };
        },
      });

    it('[E1] [W6] [T13] takes the same branch for the same request, however often repeated', async () => {
      const { host, token, did, lose, wait } = await setUp();
      await lose();
      wait(10 * minute);
      await lose();
      wait(10 * minute);
      const { steps } = suspended(await host().resume(token, answer('sure')));
      expect(steps).toMatchObject([{ stepId: 'more' }]);
      expect(did).toHaveLength(3);
      expect(new Set(did).size).toBe(1);
    });

    it.each([
      ['of the turn', true, 0],
      ['of the turn, hours late', true, 3 * hour],
      ['of its question, after the timeout', false, 0],
      ['of its question, hours late', false, 3 * hour],
    ])(
      '[E8] [W6] is finished by the queue on the same branch, and undone, by the message %s',
      async (_, hasLater, late) => {
        const { host, did, ended, asked, newest, deliver, drain, lose } = await setUp();
        await lose();
        const { message, at } = hasLater ? newest() : asked;
        // The answer came in time, whenever the turn is repeated.
        expect(await deliver(host(), { message, at: at + late })).toMatchObject({
          status: 'waiting',
        });
        expect(did).toHaveLength(2);
        expect(await drain(host())).toMatchObject({ status: 'ended' });
        expect(ended.last()).toEqual({ status: 'failed', uncompensated: [] });
        const [first, second, ...undone] = did;
        expect(second).toBe(first);
        expect(undone).toEqual([first?.replace('charge', 'refund')]);
      },
    );

    it('[E1] [W6] uses the time of its first request, even with a slow guard', async () => {
      const { host, token, did, pass, wait, lose } = await setUp();
      const slow = host((guard) => ({
        begin: async (claim) => {
          wait(2 * minute);
          return await guard.begin(claim);
        },
        finish: gone,
      }));
      await expect(slow.resume(token, answer('sure'))).rejects.toMatchObject({
        code: 'guard_down',
      });
      expect(did).toHaveLength(1);
      await pass(70_000);
      await lose();
      expect(did).toHaveLength(2);
    });

    it('[T13] uses the time of the repetition if the guard stores no requests', async () => {
      const { host, token, did, lose, wait } = await setUp();
      await lose();
      const older = host(
        handing(async (begun, { ends, follows }) =>
          ends === true || follows === true ? begun : undefined,
        ),
      );
      wait(10 * minute);
      await expect(older.resume(token, answer('sure'))).resolves.toMatchObject({
        status: 'failed',
      });
      expect(did).toHaveLength(1);
    });
  });
}
