import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { memoryStore } from '@mcp-saga/server';
import { hostOf, keyBytes, oldKey, suspended } from '../fixtures/host.ts';
import { asking } from '../fixtures/sagas.ts';

const ada = { principal: { subject: 'ada', client: 'app' } };
const secret = 'the secret target of ada';

async function used() {
  const { host } = hostOf(asking(), { store: memoryStore() });
  const { token } = suspended(await host.start('asking', { secret }, { caller: ada }));
  return { host, token };
}

/**
 * Everything that can be reached from a value by its properties, hidden ones and those of
 * prototypes included.
 */
function reached(value: unknown, seen = new Set<unknown>()): Set<unknown> {
  if (
    (typeof value !== 'object' && typeof value !== 'function') ||
    value === null ||
    seen.has(value)
  )
    return seen;
  if (value === Object.prototype || value === Function.prototype) return seen;
  seen.add(value);
  reached(Object.getPrototypeOf(value), seen);
  for (const key of Reflect.ownKeys(value)) {
    const property = Object.getOwnPropertyDescriptor(value, key);
    if (property !== undefined && 'value' in property) reached(property.value, seen);
  }
  return seen;
}

test('[T7] a printed host shows no key, and nothing of a saga', async () => {
  const { host } = await used();
  const [, base64] = oldKey.split(':');
  for (const text of [inspect(host, { depth: 9, showHidden: true }), JSON.stringify(host)]) {
    expect(text).not.toContain(base64);
    expect(text).not.toContain(
      keyBytes(0x11)
        .toString('hex')
        .replaceAll(/(..)(?=.)/g, '$1 '),
    );
    expect(text).not.toContain(secret);
  }
});

test('[T6] [T7] no property of a host leads to a sealer, a key, or the settings of the host', async () => {
  const { host, token } = await used();
  expect(Object.keys(host).toSorted()).toEqual([
    'answer',
    'attach',
    'cancel',
    'deliver',
    'inspect',
    'resume',
    'sagas',
    'start',
    'studio',
  ]);
  // Programs belong to the author: their contents are not part of the host.
  const own = [...reached({ ...host, sagas: [] })].filter(
    (value) => typeof value === 'object' && value !== null && 'open' in value,
  );
  expect(own).toEqual([]);
  expect(
    [...reached({ ...host, sagas: [] })].filter((value) => value instanceof CryptoKey),
  ).toEqual([]);
  await expect(host.resume(token, [])).rejects.toMatchObject({ reason: 'principal' });
});
