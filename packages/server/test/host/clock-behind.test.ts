import { describe, expect, test } from 'vitest';
import {
  elicit,
  memoryStore,
  saga,
  step,
  TokenRefused,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import {
  accept,
  completed,
  hooksInto,
  hostOf,
  nothingTold,
  oldKey,
  suspended,
} from '../fixtures/host.ts';
import { asking, Empty } from '../fixtures/sagas.ts';
import { ask, eras } from '../fixtures/raw.ts';
import { start, testClock } from '../fixtures/clock.ts';
import { coreOf } from '../../src/saga-host.ts';
import { alterEnd } from '../../../../test/support/wire/tamper.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const answer = [accept('target', { target: 'x' })];
const behind = 30_001;
const caller = { principal: { subject: 'ada', client: 'app' } };

async function mint(more: object = {}): Promise<string> {
  const { host } = hostOf(asking(), { clock: testClock() });
  return suspended(await coreOf(host).start('asking', {}, more, { method: 'tools/callSaga' }))
    .token;
}

describe('a host with a slow clock', () => {
  test('[T6] rejects a fresh token with a retryable error, and accepts it later', async () => {
    const clock = testClock(start - behind);
    const store = memoryStore({ clock });
    const { host, told } = hostOf(asking(), { clock, store });
    const token = await mint();
    for (const request of [() => host.resume(token, answer), () => coreOf(host).status(token)]) {
      await expect(request()).rejects.toMatchObject({
        name: 'SagaHostError',
        code: 'clock_behind',
      });
    }
    expect(told.rejections.map(({ reason }) => reason)).toEqual(['not_yet_valid', 'not_yet_valid']);
    expect(told.steps).toEqual([]);
    clock.now += 1;
    expect(completed(await host.resume(token, answer)).result).toBe('x');
  });

  test.each<[string, string, () => Promise<string>, Partial<SagaHostOptions>]>([
    ['of another user', 'principal', () => mint(caller), {}],
    ['that may not call', 'forbidden', () => mint(), { auth: { authorize: () => false } }],
    ['of a saga that is gone', 'target', () => mint(), { sagas: [asking('other')] }],
    ['tampered with', 'undecryptable', async () => alterEnd(await mint()), {}],
    [
      'issued before an incident',
      'revoked',
      () => mint(),
      { auth: { rejectIssuedBefore: start + 1 } },
    ],
  ])(
    '[T5] [T6] refuses a token %s (%s) as if its clock were right',
    async (_, reason, token, options) => {
      const { sagas = [asking()], ...rest } = options;
      const { host } = hostOf(sagas, { ...rest, clock: testClock(start - behind) });
      const refused = host.resume(await token(), answer, { caller: 'anonymous' });
      await expect(refused).rejects.toBeInstanceOf(TokenRefused);
      await expect(refused).rejects.toMatchObject({ reason });
    },
  );
});

describe('a request repeated at a host with a slow clock', () => {
  const gone = (): Promise<never> => Promise.reject(new Error('the process died'));
  const go = (stepId: string) => [accept(stepId, {})];

  test('[T13] gets the response of the guard, with its questions', async () => {
    const order = saga({ name: 'order', version: '1' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      yield* elicit('terms', { message: 'Agreed? '.repeat(1_000), schema: Empty });
      return 'done';
    });
    const store = memoryStore({ clock: testClock() });
    const [ahead, late] = [hostOf(order, { store }), hostOf(order, { store })];
    const { token } = suspended(await ahead.host.start('order', {}));
    ahead.clock.now += behind;
    const first = await ahead.host.resume(token, go('sure'));
    expect(await late.host.resume(token, go('sure'))).toEqual(first);
  });

  test('[T13] continues a turn that the other host began without a client', async () => {
    const order = saga({ name: 'order', version: '1' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      yield* step('charge', () => undefined, { once: true });
      yield* step('ship', () => undefined);
      return 'done';
    });
    const clock = testClock();
    const store = memoryStore({ clock });
    let kept = 0;
    const dying = storeWithGuard(
      (guard) => ({
        finish: (...turn) => ((kept += 1) > 1 ? gone() : guard.finish(...turn)),
        release: gone,
      }),
      store,
    );
    const ahead = hostOf(order, { store: dying });
    const late = hostOf(order, { store });
    const { token } = suspended(await ahead.host.start('order', {}));
    ahead.clock.now += behind;
    await expect(ahead.host.resume(token, go('sure'))).rejects.toMatchObject({
      code: 'guard_down',
    });
    clock.now += 70_000;
    expect(completed(await late.host.resume(token, go('sure'))).result).toBe('done');
  });
});

describe.each(eras)('on the wire of the %s era', (era) => {
  test('[T6] the error of a host with a slow clock is retryable', async () => {
    const server = serveSagas({
      name: 'deployer',
      version: '1',
      sagas: [asking()],
      keys: oldKey,
      testing: { environment: 'production', clock: () => start - behind },
      hooks: hooksInto(nothingTold()),
    });
    const params = { sagaToken: await mint(), completedSteps: answer };
    const { last } = await ask(server, era, 'tools/resumeSaga', params, 'request-1');
    expect(last.error).toMatchObject({ code: -32603, data: { reason: 'clock_behind' } });
  });
});
