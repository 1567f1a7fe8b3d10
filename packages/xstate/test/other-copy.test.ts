import { createSagaHost, generateKey } from '@mcp-saga/server';
import { expect, it, vi } from 'vitest';
import { setup } from 'xstate';
import { failingGuard } from '../../server/test/fixtures/failing-guard.ts';
import { suspended } from '../../server/test/fixtures/host.ts';

it('[E1] a commit that fails undoes nothing, also for a machine of another copy of the package', async () => {
  vi.resetModules();
  const { machineSaga, step } = await import('@mcp-saga/xstate');
  const did: string[] = [];
  const charge = step(() => void did.push('charge'), { compensate: () => void did.push('refund') });
  const ship = step(() => {
    throw new Error('sold out');
  });
  const machine = setup({
    types: { output: {} as string },
    actors: { charge, ship },
  }).createMachine({
    initial: 'charging',
    output: () => 'shipped',
    states: {
      charging: { invoke: { src: 'charge', onDone: 'shipping' } },
      shipping: { invoke: { src: 'ship', onDone: 'shipped' } },
      shipped: { type: 'final' },
    },
  });
  const pay = machineSaga({ name: 'pay', version: '1' }, machine);
  let isDown = false;
  const store = failingGuard(() => isDown && did.length > 0);
  const hooks = { onError: () => undefined, onTurn: () => undefined };
  const host = createSagaHost({
    sagas: [pay],
    name: 'shop',
    keys: generateKey(),
    store,
    starts: { unkeyed: 'handshake' },
    hooks,
  });
  const { token } = suspended(await host.start('pay', {}));
  isDown = true;
  await expect(host.resume(token)).rejects.toMatchObject({ code: 'guard_down' });
  expect(did).toEqual(['charge']);
});
