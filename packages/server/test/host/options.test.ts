import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  createSagaHost,
  elicit,
  progress,
  saga,
  SealError,
  step,
  type Program,
} from '@mcp-saga/server';
import * as z from 'zod';
import { accept, completed, hostOf, keyOf, oldKey, suspended } from '../fixtures/host.ts';
import { asking, Empty } from '../fixtures/sagas.ts';
import { coreOf } from '../../src/saga-host.ts';

const base = { sagas: [asking()], name: 'deployer', keys: oldKey };

afterEach(() => {
  vi.unstubAllEnvs();
});

describe('creating a host fails', () => {
  test('with two sagas of one name', () => {
    expect(() => createSagaHost({ ...base, sagas: [asking(), asking('asking', '2')] })).toThrow(
      "Two sagas are named 'asking'. Rename a saga, or add the older version",
    );
  });

  test.each<[string, object, string]>([
    [
      'input that is not an object',
      { input: z.string() },
      "Saga 'odd', input: wrap the schema in z.object({…}).",
    ],
    [
      'output that is not an object',
      { output: z.array(z.string()) },
      "Saga 'odd', output: wrap the schema",
    ],
    [
      'input that JSON lacks',
      { input: z.object({ when: z.date() }) },
      "Saga 'odd', input: the input schema",
    ],
    [
      'output that is a transform',
      { output: z.object({ size: z.string().transform((text) => text.length) }) },
      "Saga 'odd', output: the output schema",
    ],
    [
      'a schema without JSON Schema',
      {
        input: {
          '~standard': { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) },
        },
      },
      "Saga 'odd', input: a schema of 'own'",
    ],
  ])('with %s, which would break tools/list for all sagas', (_, schemas, problem) => {
    const odd = { ...asking('odd'), ...schemas };
    expect(() => createSagaHost({ ...base, sagas: [odd] })).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
    expect(() => createSagaHost({ ...base, sagas: [odd] })).toThrow(problem);
  });

  test('without a name', () => {
    expect(() => createSagaHost({ ...base, name: '' })).toThrow('name: expected');
    expect(() => createSagaHost({ sagas: [], keys: oldKey } as never)).toThrow('name: expected');
    expect(() => createSagaHost({ ...base, name: '\ud800' })).toThrow('name: expected');
    expect(() => createSagaHost({ ...base, audience: '' })).toThrow('audience: expected');
  });

  test.each([[undefined], ['production'], ['Development'], ['staging'], ['']])(
    '[T7] without keys if the environment is %o, and the error explains how to create one',
    (environment) => {
      const make = (): unknown =>
        createSagaHost({ ...base, keys: undefined, testing: { environment } });
      expect(make).toThrow(SealError);
      expect(make).toThrow(/set SAGA_KEYS to "k1:<32 random bytes, base64url>"/);
    },
  );

  test.each(['', '  ', []])('[T7] with empty keys: %o', (keys) => {
    for (const environment of ['production', 'development', 'test']) {
      expect(() => createSagaHost({ ...base, keys, testing: { environment } })).toThrow(SealError);
    }
  });

  test('[T7] with a bad key, and the error contains its position and not its value', () => {
    const bad = 'kq-secret-kq';
    for (const keys of [`${oldKey},new:${bad}`, `${oldKey},${bad}`, [oldKey, `new:${bad}`]]) {
      const make = (): unknown => createSagaHost({ ...base, keys });
      expect(make).toThrow(/key 2 of 2/);
      expect(make).not.toThrow(bad);
    }
    expect(() => createSagaHost({ ...base, keys: `${oldKey},${keyOf('other', 0x11)}` })).toThrow(
      /key 2 of 2/,
    );
    expect(() => createSagaHost({ ...base, keys: `${oldKey},${keyOf('old', 0x33)}` })).toThrow(
      /key 2 of 2/,
    );
  });

  test('[T7] with a bad key in SAGA_KEYS, and the error names the variable', () => {
    vi.stubEnv('SAGA_KEYS', 'k1:AAA');
    const error =
      /^SAGA_KEYS: key 1 of 1 has 2 bytes instead of 32\. To make one: node -p "[^"]*"\.$/;
    const { keys: _, ...found } = base;
    expect(() => createSagaHost(found)).toThrow(error);
    expect(() => createSagaHost({ ...base, keys: process.env['SAGA_KEYS'] })).toThrow(error);
    // The error of other keys does not name SAGA_KEYS.
    expect(() => createSagaHost({ ...base, keys: 'k1:AAE' })).toThrow(
      /^key 1 of 1 has 2 bytes instead of 32\. To make one: /,
    );
    vi.stubEnv('SAGA_KEYS', undefined);
    expect(() =>
      createSagaHost({ ...base, keys: undefined, testing: { environment: 'production' } }),
    ).toThrow(/^No keys:/);
  });
});

test('[T7] a weak key in SAGA_KEYS is accepted in development only, and the error names its position', () => {
  vi.stubEnv('SAGA_KEYS', `k1:${Buffer.alloc(32, 0x11).toString('base64url')}`);
  const { keys: _, ...found } = base;
  expect(() => createSagaHost({ ...found, testing: { environment: 'production' } })).toThrow(
    /^SAGA_KEYS: key 1 of 1 /,
  );
  expect(() => createSagaHost({ ...found, testing: { environment: undefined } })).toThrow(
    SealError,
  );
  expect(createSagaHost({ ...found, testing: { environment: 'development' } }).sagas).toHaveLength(
    1,
  );
});

describe('a host with an ephemeral key', () => {
  test.each(['development', 'test'])('[T7] warns in %s', (environment) => {
    const warnings: string[] = [];
    createSagaHost({
      ...base,
      keys: undefined,
      testing: { environment },
      hooks: { onWarning: (message) => warnings.push(message) },
    });
    expect(warnings).toEqual([expect.stringContaining('SAGA_KEYS')]);
  });

  test("[T7] warns in production, also with keys: 'ephemeral'", () => {
    const { told } = hostOf(asking(), {
      keys: 'ephemeral',
      testing: { environment: 'production' },
    });
    expect(told.warnings).toEqual([expect.stringContaining('SAGA_KEYS')]);
  });

  test("[T7] needs keys: 'ephemeral' in production, and opens only its own tokens", async () => {
    const one = hostOf(asking(), { keys: 'ephemeral' }).host;
    const two = hostOf(asking(), { keys: 'ephemeral' }).host;
    const turn = await one.start('asking', {});
    if (turn.status !== 'suspended') throw new Error(turn.status);
    await expect(two.resume(turn.token)).rejects.toMatchObject({ reason: 'unknown_key' });
    expect((await one.resume(turn.token)).status).toBe('suspended');
  });
});

describe('a host', () => {
  test('[T7] prints no keys', () => {
    const { host } = hostOf(asking(), { keys: `${oldKey},${keyOf('other', 0x55)}` });
    const bytes = oldKey.replace('old:', '');
    expect(JSON.stringify(host)).not.toContain(bytes);
    expect(JSON.stringify(coreOf(host))).not.toContain(bytes);
  });

  test.each([
    ['a record', z.record(z.string(), z.string())],
    ['a union of objects', z.union([z.object({ a: z.string() }), z.object({ b: z.string() })])],
    ['a transform of its input', z.object({ size: z.string().transform((text) => text.length) })],
  ])('serves a saga whose input is %s', (_, input) => {
    expect(hostOf({ ...asking(), input }).host.sagas).toHaveLength(1);
  });

  test('lists the programs it serves', () => {
    const sagas: Program[] = [asking(), asking('other')];
    expect(hostOf(sagas).host.sagas).toEqual(sagas);
  });
});

describe('a command that is never yielded', () => {
  const environments = ['development', 'test', 'production'];

  test.each(environments)(
    'causes one warning of a host in %s if it only reports, with the code to write',
    async (environment) => {
      const floating = saga({ name: 'floating', version: '1' }, function* () {
        progress(1);
        yield* elicit('go', { message: 'Go?', schema: Empty });
        return 'done';
      });
      const warnings: string[] = [];
      const { host } = hostOf(floating, {
        testing: { environment },
        hooks: { onWarning: (said) => warnings.push(said) },
      });
      // A saga that runs often must not fill the log.
      for (let runs = 0; runs < 2; runs += 1) {
        const { token } = suspended(await host.start('floating', {}));
        completed(await host.resume(token, [accept('go', {})]));
      }
      expect(warnings).toEqual([
        "Saga 'floating' created progress(…), but never yielded it, so it did not run. Write: yield* progress(…).",
      ]);
    },
  );

  test.each(environments)(
    'lets no effect run in %s if it is a question, with advice that is not for the client',
    async (environment) => {
      let deleted = 0;
      const careless = saga({ name: 'careless', version: '1' }, function* () {
        elicit('sure', { message: 'Delete everything?', schema: Empty });
        yield* step('delete', () => (deleted += 1));
        return 'Deleted.';
      });
      const { host } = hostOf(careless, { testing: { environment } });
      expect(await host.start('careless', {})).toMatchObject({
        status: 'failed',
        error: { code: 'never_yielded', public: false },
      });
      expect(deleted).toBe(0);
    },
  );
});
