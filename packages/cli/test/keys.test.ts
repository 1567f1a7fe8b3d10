import { describe, expect, it } from 'vitest';
import { run } from './command-line.ts';

const newKey = async (id: string): Promise<string> => (await run(['keys', 'new', id])).printed;

describe('mcp-saga keys', () => {
  it('makes a new key each time, with the given ID', async () => {
    const keys = [await newKey('a'), await newKey('a')];
    expect(new Set(keys).size).toBe(2);
    for (const key of keys) expect(key).toMatch(/^a:[\w-]{43}$/);
  });

  it('refuses an invalid ID', async () => {
    expect(await run(['keys', 'new', 'a b'])).toMatchObject({ code: 2 });
  });

  it('rotates in three phases, and ends with the new key alone', async () => {
    const old = await newKey('k1');
    const rotated = async (phase: string, keys: string): Promise<string> =>
      (await run(['keys', 'rotate', '--phase', phase], { environment: { SAGA_KEYS: keys } })).printed;
    const both = await rotated('1', old);
    const [, added = ''] = both.split(',');
    expect(both).toBe(`${old},${added}`);
    expect(added).toMatch(/^k2:/);
    const sealing = await rotated('2', both);
    expect(sealing).toBe(`${added},${old}`);
    expect(await rotated('3', sealing)).toBe(added);
  });

  it('does not add a key with the ID of another one', async () => {
    const environment = { SAGA_KEYS: await newKey('k1') };
    expect(await run(['keys', 'rotate', '--phase', '1', '--id', 'k1'], { environment })).toMatchObject({
      code: 2,
      printed: '',
    });
  });

  it('names the keys after a phase, so that a wrong phase shows', async () => {
    const environment = { SAGA_KEYS: [await newKey('k2'), await newKey('k1')].join(',') };
    const { errors } = await run(['keys', 'rotate', '--phase', '2'], { environment });
    expect(errors).toMatch(/^k1, k2: the first key seals/);
  });

  it('does not drop the only key', async () => {
    const environment = { SAGA_KEYS: await newKey('k1') };
    for (const phase of ['2', '3'])
      expect(await run(['keys', 'rotate', '--phase', phase], { environment })).toMatchObject({
        code: 2,
        printed: '',
      });
  });

  it('reports weak, published, repeated, and malformed keys without showing one', async () => {
    const good = await newKey('k1');
    const bad = [
      `k1:${'A'.repeat(43)}`,
      'k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8',
      `${good},${good}`,
      `${good},k2:${good.slice(3)}`,
      'k1:short',
      'k1',
    ];
    for (const keys of bad) {
      const { code, printed, errors } = await run(['keys', 'check'], { environment: { SAGA_KEYS: keys } });
      expect(code, keys).toBe(1);
      for (const key of keys
        .split(',')
        .map((each) => each.split(':')[1])
        .filter((each) => each !== undefined))
        expect(printed + errors).not.toContain(key);
    }
    expect(await run(['keys', 'check'], { environment: { SAGA_KEYS: good } })).toMatchObject({ code: 0 });
  });

  it('names the missing variable', async () => {
    expect(await run(['keys', 'check', '--keys-env', 'SHOP_KEYS'])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('SHOP_KEYS'),
    });
  });
});
