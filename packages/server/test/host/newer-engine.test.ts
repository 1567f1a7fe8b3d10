import { describe, expect, test } from 'vitest';
import { createKeyRing, createSealer } from '@mcp-saga/seal';
import { TokenRefused } from '@mcp-saga/server';
import { engineVersion } from '@mcp-saga/server/internal';
import { serveSagas } from '@mcp-saga/server/serve';
import { start, testClock } from '../fixtures/clock.ts';
import { accept, hooksInto, hostOf, nothingTold, oldKey, suspended } from '../fixtures/host.ts';
import { ask, eras } from '../fixtures/raw.ts';
import { asking } from '../fixtures/sagas.ts';
import { coreOf } from '../../src/saga-host.ts';

const answer = [accept('target', { target: 'x' })];
const ada = { principal: { subject: 'ada', client: 'app' } };
const eve = { principal: { subject: 'eve', client: 'app' } };

/** A token as the next release of this library seals it. */
async function tokenOfNextRelease(caller: object = {}): Promise<string> {
  const { host } = hostOf(asking(), { clock: testClock() });
  const turn = suspended(
    await coreOf(host).start('asking', {}, caller, { method: 'tools/callSaga' }),
  );
  const sealer = createSealer({
    ring: createKeyRing(oldKey, {}),
    audience: 'deployer',
    clock: () => start,
  });
  const { sid, claims, streams } = await sealer.open(turn.token, { purpose: 'token' });
  const plain = streams.map((bytes) => ({ bytes, compress: false }));
  return await sealer.seal('token', sid, { ...claims, engine: engineVersion + 1 }, plain);
}

describe('a token of the next release of this library', () => {
  test('[E10] [R4] is rejected with a retryable error', async () => {
    const { host, told } = hostOf(asking(), { clock: testClock() });
    const token = await tokenOfNextRelease();
    for (const request of [() => host.resume(token, answer), () => coreOf(host).status(token)]) {
      await expect(request()).rejects.toMatchObject({
        name: 'SagaHostError',
        code: 'version_gone',
      });
    }
    expect(told.rejections.map(({ reason }) => reason)).toEqual(['engine', 'engine']);
    expect(told.steps).toEqual([]);
  });

  test('[T5] of another user is refused like any other token', async () => {
    const { host } = hostOf(asking(), { clock: testClock() });
    const refused = host.resume(await tokenOfNextRelease(ada), answer, { caller: eve });
    await expect(refused).rejects.toBeInstanceOf(TokenRefused);
    await expect(refused).rejects.toMatchObject({ reason: 'principal' });
  });

  test.each(eras)(
    '[E10] is rejected with a retryable error on the wire of the %s era',
    async (era) => {
      const server = serveSagas({
        name: 'deployer',
        version: '1',
        sagas: [asking()],
        keys: oldKey,
        testing: { environment: 'production', clock: () => start },
        hooks: hooksInto(nothingTold()),
      });
      const params = { sagaToken: await tokenOfNextRelease(), completedSteps: answer };
      const { last } = await ask(server, era, 'tools/resumeSaga', params, 'request-1');
      expect(last.error).toMatchObject({ code: -32603, data: { reason: 'version_gone' } });
    },
  );
});
