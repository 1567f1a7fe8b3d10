import { engineOf, type SagaEngine } from '@mcp-saga/server/internal';
import { describe, expect, test, vi } from 'vitest';
import {
  elicit,
  saga as sagaOf,
  type RateLimitFacts,
  type SagaCaller,
  type Json,
  type PrincipalOption,
} from '@mcp-saga/server';
import * as z from 'zod';
import { accept, completed, hostOf, suspended } from '../fixtures/host.ts';
import { asking, Empty } from '../fixtures/sagas.ts';
import { coreOf } from '../../src/saga-host.ts';

const ada: SagaCaller = { principal: { issuer: 'https://id', subject: 'ada', client: 'app' } };
const eve: SagaCaller = { principal: { issuer: 'https://id', subject: 'eve', client: 'app' } };
const nobody: SagaCaller = { principal: 'anonymous' };
const answer = [accept('target', { target: 'x' })];

describe('the principal', () => {
  test('[T6] that started a saga continues it', async () => {
    const { host } = hostOf(asking());
    const { token } = suspended(await host.start('asking', {}, { caller: ada }));
    expect(completed(await host.resume(token, answer, { caller: ada })).result).toBe('x');
  });

  test.each([
    ['another subject', ada, eve],
    [
      'another client',
      ada,
      { principal: { issuer: 'https://id', subject: 'ada', client: 'other' } },
    ],
    [
      'another issuer',
      ada,
      { principal: { issuer: 'https://evil', subject: 'ada', client: 'app' } },
    ],
    ['no issuer', ada, { principal: { subject: 'ada', client: 'app' } }],
    ['a principal that vanishes', ada, nobody],
    ['a principal that appears', nobody, ada],
  ])(
    '[T6] refuses %s in a running saga, and reports the reason to the hook',
    async (_, before, after) => {
      const { host, told } = hostOf(asking());
      const { token } = suspended(await host.start('asking', {}, { caller: before }));
      await expect(host.resume(token, answer, { caller: after })).rejects.toMatchObject({
        reason: 'principal',
      });
      expect(told.rejections).toEqual([{ reason: 'principal', suppressed: 0 }]);
      expect(told.steps.map(({ type }) => type)).toEqual(['asked']);
      expect((await host.resume(token, answer, { caller: before })).status).toBe('completed');
    },
  );

  test('[T6] cannot be forged by the members of another principal', async () => {
    const { host } = hostOf(asking());
    const { token } = suspended(
      await host.start(
        'asking',
        {},
        { caller: { principal: { subject: 'a","client":"b', client: 'c' } } },
      ),
    );
    const other = { principal: { subject: 'a', client: 'b","client":"c' } };
    await expect(host.resume(token, answer, { caller: other })).rejects.toMatchObject({
      reason: 'principal',
    });
  });

  test('[T6] needs a subject, also from the function of a host', async () => {
    const { host } = hostOf(asking());
    const none = { principal: { client: 'app' } } as unknown as SagaCaller;
    await expect(host.start('asking', {}, { caller: none })).rejects.toMatchObject({
      code: 'principal_missing',
    });
  });
});

const bySubject: PrincipalOption = (user) => {
  const { extra, clientId } = user as { extra?: { sub?: string }; clientId: string };
  return extra?.sub === undefined ? undefined : { subject: extra.sub, client: clientId };
};

const authenticated = (clientId: string, sub: string): SagaCaller => ({
  user: { clientId, extra: { sub } },
});

describe('auth info', () => {
  test('[T6] is refused at the start without the option, with a hint to set it', async () => {
    const { host } = hostOf(asking());
    const started = host.start('asking', {}, { caller: { user: { clientId: 'app' } } });
    await expect(started).rejects.toMatchObject({ code: 'principal_missing', public: false });
    await expect(started).rejects.toThrow("or 'client-only'");
  });

  test('[T6] binds the saga to the subject that the option returns', async () => {
    const { host } = hostOf(asking(), { auth: { principal: bySubject } });
    const { token } = suspended(
      await host.start('asking', {}, { caller: authenticated('app', 'ada') }),
    );
    await expect(
      host.resume(token, answer, { caller: authenticated('app', 'eve') }),
    ).rejects.toMatchObject({
      reason: 'principal',
    });
    expect((await host.resume(token, answer, { caller: authenticated('app', 'ada') })).status).toBe(
      'completed',
    );
  });

  test.each([
    ['gives nothing', (): undefined => undefined],
    ['gives an empty subject', () => ({ subject: '', client: 'app' })],
    [
      'returns a subject that is a number',
      () => ({ subject: 7 as unknown as string, client: 'app' }),
    ],
  ])('[T6] is refused if the option %s', async (_, principal) => {
    const { host } = hostOf(asking(), { auth: { principal } });
    const caller = { user: { clientId: 'app' } };
    await expect(host.start('asking', {}, { caller })).rejects.toMatchObject({
      code: 'principal_missing',
    });
    const open = hostOf(asking()).host;
    const { token } = suspended(await open.start('asking', {}));
    await expect(host.resume(token, answer, { caller })).rejects.toMatchObject({
      code: 'principal_missing',
    });
  });

  test("[T6] identifies callers by the client alone only with 'client-only'", async () => {
    const { host } = hostOf(asking(), { auth: { principal: 'client-only' } });
    const { token } = suspended(
      await host.start('asking', {}, { caller: authenticated('app', 'ada') }),
    );
    await expect(
      host.resume(token, answer, { caller: authenticated('other', 'ada') }),
    ).rejects.toMatchObject({
      reason: 'principal',
    });
    expect((await host.resume(token, answer, { caller: authenticated('app', 'eve') })).status).toBe(
      'completed',
    );
    const none = host.start('asking', {}, { caller: { user: { clientId: '' } } });
    await expect(none).rejects.toMatchObject({ code: 'principal_missing' });
  });

  test('[T6] starts nothing if the option throws', async () => {
    const { host, told } = hostOf(asking(), {
      auth: {
        principal: () => {
          throw new Error('directory down');
        },
      },
    });
    await expect(host.start('asking', {}, { caller: { user: {} } })).rejects.toThrow(
      'directory down',
    );
    expect(told.steps).toEqual([]);
  });
});

describe('authorize and rateLimit', () => {
  test('[T6] authorize is called in each turn, with the caller and the saga', async () => {
    const authorize = vi.fn(() => true);
    const { host } = hostOf(asking(), { auth: { authorize } });
    const { token } = suspended(await host.start('asking', {}, { caller: ada }));
    await host.resume(token, answer, { caller: ada });
    expect(authorize.mock.calls).toMatchObject([
      [ada, { name: 'asking', version: '1' }],
      [ada, { name: 'asking', version: '1' }],
    ]);
  });

  test('[T6] authorize refuses a start by name, and a resume by the frozen response', async () => {
    let allowed = false;
    const { host, told } = hostOf(asking(), { auth: { authorize: async () => allowed } });
    await expect(host.start('asking', {}, { caller: nobody })).rejects.toMatchObject({
      code: 'forbidden',
      public: true,
    });
    allowed = true;
    const { token } = suspended(await host.start('asking', {}, { caller: nobody }));
    allowed = false;
    await expect(host.resume(token, answer, { caller: nobody })).rejects.toMatchObject({
      code: 'refused',
      reason: 'forbidden',
    });
    expect(told.rejections).toEqual([{ reason: 'forbidden', suppressed: 0 }]);
  });

  test('[T6] authorize refuses the call if it throws', async () => {
    const { host } = hostOf(asking(), {
      auth: {
        authorize: async () => {
          throw new Error('policy down');
        },
      },
    });
    await expect(host.start('asking', {}, { caller: nobody })).rejects.toThrow('policy down');
  });

  test('[T11] rateLimit is called after the token was opened and before the replay', async () => {
    const replayed = vi.fn();
    const saga = asking();
    const engine = engineOf(saga);
    const advance: SagaEngine['advance'] = (...all) => (replayed(), engine.advance(...all));
    const watched = { ...saga, engine: { ...engine, advance } };
    const admit = vi.fn(() => true);
    const { host, told } = hostOf(watched, { auth: { rateLimit: admit } });
    const { token, sagaId } = suspended(await host.start('asking', {}, { caller: ada }));
    const sealed = (await host.inspect(token)).claims.principal;
    expect(replayed).toHaveBeenCalledTimes(1);

    admit.mockReturnValue(false);
    await expect(host.resume(token, answer, { caller: ada })).rejects.toMatchObject({
      code: 'rate_limited',
      public: true,
    });
    expect(replayed).toHaveBeenCalledTimes(1);
    // The token stays valid, so it is not reported as rejected.
    expect(told.rejections).toEqual([]);
    expect(admit.mock.calls).toEqual([
      [{ principal: sealed, sagaId, turn: 1, bytes: 0, inflatedBytes: 0, keptBytes: 0 }],
      [
        {
          principal: sealed,
          sagaId,
          turn: 2,
          bytes: token.length,
          inflatedBytes: expect.any(Number),
          keptBytes: 0,
        },
      ],
    ]);

    admit.mockClear();
    await expect(host.resume(`${token}x`, answer, { caller: ada })).rejects.toMatchObject({
      code: 'refused',
    });
    expect(admit).not.toHaveBeenCalled();
  });

  test('[T11] rateLimit refuses a start before the arguments are parsed', async () => {
    const saga = asking();
    const engine = engineOf(saga);
    const begin = vi.fn((args: Json) => engine.begin(args));
    const { host } = hostOf(
      { ...saga, engine: { ...engine, begin } },
      { auth: { rateLimit: () => false } },
    );
    await expect(host.start('asking', {})).rejects.toMatchObject({ code: 'rate_limited' });
    expect(begin).not.toHaveBeenCalled();
  });

  test('[T11] rateLimit gets the inflated size of a small token', async () => {
    const facts: RateLimitFacts[] = [];
    const padding = 'x'.repeat(200_000);
    const keeps = sagaOf(
      { name: 'keeps', version: '1', input: z.object({ text: z.string() }) },
      function* () {
        yield* elicit('go', { message: 'Go?', schema: Empty });
        return 'kept';
      },
    );
    const limits = { maxTokenBytes: 1024 * 1024 };
    const keeping = hostOf(keeps, {
      limits,
      auth: { rateLimit: (fact) => facts.push(fact) > 0 },
    }).host;
    const byClient = { method: 'tools/callSaga' };
    const small = suspended(await coreOf(keeping).start('keeps', { text: padding }, {}, byClient));
    await keeping.resume(small.token, []);
    const last = facts.at(-1);
    expect(last?.bytes).toBeLessThan(4_000);
    expect(last?.inflatedBytes).toBeGreaterThan(padding.length);
    expect(last?.inflatedBytes).toBeLessThan(padding.length + 4_000);
  });
});
