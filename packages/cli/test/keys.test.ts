import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { run } from './command-line.ts';

const newKey = async (id: string): Promise<string> => (await run(['keys', 'new', id])).printed;

describe('mcp-saga keys', () => {
  it('makes a new key each time, with the given ID', async () => {
    const keys = [await newKey('a'), await newKey('a')];
    expect(new Set(keys).size).toBe(2);
    for (const key of keys) expect(key).toMatch(/^a:[\w-]{43}$/);
  });

  it('refuses an invalid ID', async () => {
    const { printed } = await run(['keys', 'new', 'a b', '--json']);
    const message = 'The ID of a key must have 1 to 64 letters, digits, and . _ ~ -.';
    expect(JSON.parse(printed)).toEqual({ error: { code: 'usage', message } });
    expect(await run(['keys', 'new', 'a b'])).toMatchObject({ code: 2 });
  });

  it('rotates in three phases, and ends with the new key alone', async () => {
    const old = await newKey('k1');
    const rotated = async (phase: string, keys: string): Promise<string> =>
      (await run(['keys', 'rotate', '--phase', phase], { environment: { SAGA_KEYS: keys } }))
        .printed;
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
    expect(
      await run(['keys', 'rotate', '--phase', '1', '--id', 'k1'], { environment }),
    ).toMatchObject({
      code: 2,
      printed: '',
    });
  });

  it('names the keys after a phase, so that a wrong phase shows', async () => {
    const environment = { SAGA_KEYS: [await newKey('new'), await newKey('old')].join(',') };
    const { errors } = await run(['keys', 'rotate', '--phase', '2'], { environment });
    expect(errors).toMatch(/^old, new: the first key seals/);
  });

  it.each([
    ['2', 'k2', 'k1', 'Run phase 3'],
    ['3', 'k1', 'k2', 'Run phase 2'],
    ['3', 'k9', 'k10', 'Run phase 2'],
  ])('does not drop the newest key: phase %s of %s, %s', async (phase, first, second, advice) => {
    const environment = { SAGA_KEYS: [await newKey(first), await newKey(second)].join(',') };
    const { code, printed, errors } = await run(['keys', 'rotate', '--phase', phase], {
      environment,
    });
    expect([code, printed]).toEqual([2, '']);
    expect(errors).toContain(`${first} seals tokens now. ${advice}.`);
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
      const { code, printed, errors } = await run(['keys', 'check'], {
        environment: { SAGA_KEYS: keys },
      });
      expect(code, keys).toBe(1);
      for (const key of keys
        .split(',')
        .map((each) => each.split(':')[1])
        .filter((each) => each !== undefined))
        expect(printed + errors).not.toContain(key);
    }
    expect(await run(['keys', 'check'], { environment: { SAGA_KEYS: good } })).toMatchObject({
      code: 0,
    });
  });

  it('reports every bad key with its position, and the command that makes a key', async () => {
    const [k2, k3] = [await newKey('k2'), await newKey('k3')];
    const check = (keys: string, ...more: readonly string[]): ReturnType<typeof run> =>
      run(['keys', 'check', ...more], { environment: { SAGA_KEYS: keys } });
    const zeros = `k1:${'A'.repeat(43)}`;
    expect((await check([zeros, k2, k2, 'zzz'].join(','))).printed.split('\n')).toEqual([
      'key 1 of 4 is a published test key',
      'key 3 of 4 has the ID of key 2: give each key a unique ID, as in k2:…',
      'key 4 of 4 is not written as <id>:<32 bytes base64url>',
      'To make a key: mcp-saga keys new',
    ]);
    // A bad key hides no repeated ID.
    const weak = `k1:${Buffer.from('a'.repeat(32)).toString('base64url')}`;
    const { printed } = await check(
      [weak, `k1:${k3.slice(3)}`, k3, 'k3:short'].join(','),
      '--json',
    );
    expect(JSON.parse(printed)).toEqual({
      ok: false,
      problems: [
        'key 1 of 4 is not random and can be guessed',
        'key 2 of 4 has the ID of key 1: give each key a unique ID, as in k2:…',
        'key 4 of 4 has the ID of key 3: give each key a unique ID, as in k2:…',
        'key 4 of 4 is not base64url without padding',
      ],
    });
  });

  it('reports every bad key of a JSON Web Key Set, and a text that does not parse', async () => {
    const k = (await newKey('k1')).slice(3);
    const jwks = JSON.stringify({
      keys: [
        { kty: 'oct', kid: 'k1', k },
        { kty: 'oct', kid: 'k1', k: 'AAAA' },
      ],
    });
    const check = (keys: string): ReturnType<typeof run> =>
      run(['keys', 'check'], { environment: { SAGA_KEYS: keys } });
    expect(await check(jwks)).toMatchObject({
      code: 1,
      printed: expect.stringMatching(/^key 2 of 2 has 3 bytes[^]*\nkey 2 of 2 has the ID of key 1/),
    });
    const good = JSON.stringify([{ kty: 'oct', kid: 'k1', k }]);
    expect(await check(good)).toMatchObject({ code: 0, printed: '1 good: k1 seals new tokens.' });
    expect(await check('["k1:x","k2:x"]')).toMatchObject({
      code: 1,
      printed: expect.stringMatching(/^key 1 of 2 [^]*\nkey 2 of 2 /),
    });
    expect(await check('{"keys"')).toMatchObject({
      code: 1,
      printed: expect.stringContaining('JSON'),
    });
    const alone = JSON.stringify({ keys: { kty: 'oct', kid: 'k1', k } });
    expect((await check(alone)).code).toBe(1);
  });

  it('reports an empty key in its place, and an ID of any form', async () => {
    const check = (keys: string): ReturnType<typeof run> =>
      run(['keys', 'check'], { environment: { SAGA_KEYS: keys } });
    const [k1, other] = [await newKey('k1'), await newKey('k2')];
    expect(await check(`${k1},`)).toMatchObject({
      code: 1,
      printed: expect.stringMatching(/^key 2 of 2 /),
    });
    expect(await check(`${k1},,x`)).toMatchObject({
      code: 1,
      printed: expect.stringMatching(/^key 2 of 3 .*\nkey 3 of 3 /),
    });
    const same = [`replaced-1:${k1.slice(3)}`, `replaced-1:${other.slice(3)}`].join(',');
    expect(await check(same)).toMatchObject({
      code: 1,
      printed: expect.stringMatching(/^key 2 of 2 has the ID/),
    });
    expect(await check('ephemeral')).toMatchObject({ code: 0 });
  });

  it('names the command that makes a key, also for a command that needs the keys', async () => {
    const { errors } = await run(['keys', 'rotate', '--phase=1'], {
      environment: { SAGA_KEYS: 'k1:x' },
    });
    expect(errors).toMatch(
      /^The keys cannot be used: key 1 of 1 .*\. To make one: mcp-saga keys new\.$/,
    );
  });

  it('rotates no text with an empty key', async () => {
    const environment = { SAGA_KEYS: `${await newKey('k1')},` };
    expect(await run(['keys', 'rotate', '--phase=1'], { environment })).toMatchObject({
      code: 2,
      printed: '',
      errors: expect.stringContaining('key 2 of 2'),
    });
  });

  it('names the missing variable', async () => {
    expect(await run(['keys', 'check', '--keys-env', 'SHOP_KEYS'])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('SHOP_KEYS'),
    });
  });

  it('refuses a folder instead of a file of variables', async () => {
    expect(await run(['keys', 'check', '--env-file', tmpdir()])).toMatchObject({
      code: 2,
      errors: `There is no file ${tmpdir()}.`,
    });
  });

  it('takes an empty variable as not set, and reads a file with a byte order mark', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'env-')), '.env');
    writeFileSync(file, `\uFEFFSAGA_KEYS=${await newKey('k7')}\n`);
    // A file gives modules the variables that are not set.
    vi.stubEnv('SAGA_KEYS', '');
    const environment = { SAGA_KEYS: '' };
    const args = ['keys', 'check', '--json'];
    const { code, printed, errors } = await run(args, { environment });
    expect(errors).toContain('SAGA_KEYS is empty, which counts as not set.');
    expect({ code, ...JSON.parse(printed) }).toMatchObject({ code: 2, error: { code: 'no_keys' } });
    const read = await run([...args, '--env-file', file], { environment });
    expect(JSON.parse(read.printed)).toEqual({ ok: true, ids: ['k7'] });
    expect(await run(['doctor'], { environment })).toMatchObject({ code: 2 });
    writeFileSync(file, 'SAGA_KEYS=\n');
    expect(await run([...args, '--env-file', file], { environment })).toMatchObject({ code: 2 });
    vi.unstubAllEnvs();
  });
});
