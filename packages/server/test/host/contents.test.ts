import { createKeyRing, createSealer } from '@mcp-saga/seal';
import { elicit, saga, step } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { completed, accept, hostOf, oldKey, suspended } from '../fixtures/host.ts';
import { start } from '../fixtures/clock.ts';
import { Empty } from '../fixtures/sagas.ts';

const mark = 'kq-credential';

/** All contents of a token, opened with the key. */
async function contentsOf(token: string): Promise<string> {
  const sealer = createSealer({
    ring: createKeyRing(oldKey),
    audience: 'deployer',
    clock: () => start,
  });
  const { streams } = await sealer.open(token, { purpose: 'token' });
  return streams.map((bytes) => Buffer.from(bytes).toString('utf8')).join('\n');
}

test.each([
  [true, true],
  [false, false],
])('[T12] with keep: %s it is %s that a token contains the result', async (keep, isThere) => {
  const got: unknown[] = [];
  const login = saga({ name: 'login', version: '1' }, function* () {
    got.push(
      keep ? yield* step('login', () => mark) : yield* step('login', () => mark, { keep: false }),
    );
    yield* elicit('go', { message: 'Go?', schema: Empty });
    return 'done';
  });
  const { host } = hostOf(login);
  const { token } = suspended(await host.start('login', {}));
  const contents = await contentsOf(token);
  expect(contents).toContain('login');
  expect(contents.includes(mark)).toBe(isThere);
  // The body never sees what a replay could not give it again.
  completed(await host.resume(token, [accept('go', {})]));
  expect(got).toEqual(keep ? [mark, mark] : [undefined, undefined]);
});

test('[T12] services, and the user and signals of a request, are not in the token', async () => {
  const using = saga({ name: 'using', version: '1' }, function* () {
    yield* step('use', ({ services }) => typeof services);
    yield* elicit('go', { message: 'Go?', schema: Empty });
    return 'done';
  });
  const { host } = hostOf(using, {
    auth: { principal: 'client-only' },
    services: { secret: mark },
  });
  const caller = {
    user: { clientId: 'app', token: mark },
    capabilities: { mark, elicitation: {} },
  };
  const { token } = suspended(await host.start('using', {}, { caller }));
  expect(await contentsOf(token)).not.toContain(mark);
});
