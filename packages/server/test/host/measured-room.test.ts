import { all, elicit, saga } from '@mcp-saga/server';
import { expect, test, vi } from 'vitest';
import { coreOf } from '../../src/saga-host.ts';
import { accept, hostOf, suspended } from '../fixtures/host.ts';
import { Target } from '../fixtures/sagas.ts';

test('[T11] a request measures the room of its token once for all answers that do not fit', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `place${index}`);
  const asks = saga({ name: 'asks', version: '1' }, function* () {
    const places = yield* all(
      names.map((name) => elicit(name, { message: 'Where?', schema: Target })),
    );
    return places.map(({ target }) => target).join();
  });
  const { host, told } = hostOf(asks, { limits: { maxTokenBytes: 16_384 } });
  const { token } = suspended(await host.start('asks', {}));
  const { sealer } = coreOf(host).keys;
  const seal = vi.spyOn(sealer, 'seal');
  const long = (name: string) => accept(name, { target: `${name} `.repeat(2_000) });
  const refused = suspended(await host.resume(token, names.map(long)));
  expect(refused.steps).toHaveLength(names.length);
  expect(told.ignored).toEqual(names.map((stepId) => ({ stepId, why: 'invalid' })));
  // Once to measure, and once for the new token.
  expect(seal.mock.calls.length).toBeLessThanOrEqual(2);

  // An accepted answer takes room, so the room is measured again.
  seal.mockClear();
  const fits = accept('place3', { target: 'here' });
  const answers = [...names.slice(0, 3).map(long), fits, ...names.slice(4).map(long)];
  const next = suspended(await host.resume(refused.token, answers));
  expect(next.steps).toHaveLength(names.length - 1);
  expect(seal.mock.calls.length).toBeLessThanOrEqual(3);
});
