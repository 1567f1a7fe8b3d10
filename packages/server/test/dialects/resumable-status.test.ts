import {
  elicit,
  memoryStore,
  saga,
  SagaError,
  sleep,
  step,
  type Program,
  type SagaStore,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { deferred } from '../fixtures/deferred.ts';
import { policy } from '../fixtures/five.ts';
import { hostOf, type TestHost } from '../fixtures/host.ts';
import {
  eras,
  post,
  read,
  type Fetches,
  type RawAnswer,
  type RawMessage,
} from '../fixtures/raw.ts';
import { handlerOf } from '../fixtures/rounds.ts';
import { Target } from '../fixtures/sagas.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const id = 7;
const declared = {
  'io.modelcontextprotocol/clientCapabilities': { resumableRequests: {}, elicitation: {} },
};

describe.each(eras)('the status of a resumable request, %s', (era) => {
  /** A server, and another process of it. `guarded`: they share a guard. */
  function setUp(program: Program, { guarded = true, ...options } = {}) {
    const clock = testClock();
    const store = memoryStore({ clock });
    const guard = guarded ? { store, shortTokens: false } : {};
    const open = (): TestHost =>
      hostOf(program, {
        clock,
        ...guard,
        limits: { maxHold: 0 },
        anonymous: { resumableRequests: 'accept' },
        ...options,
      });
    const [near, far] = [open(), open()];
    const send = async (
      { host }: TestHost,
      method: string,
      params: object,
      requestId: number = id,
    ): Promise<RawAnswer> => {
      const headers = { headers: { 'mcp-name': program.name } };
      const request = post(era, method, { ...params, _meta: declared }, requestId, headers);
      return await read(await handlerOf(host).fetch(request));
    };
    const statusAt = async (at: TestHost, resumeToken: unknown) =>
      (await send(at, 'requests/getStatus', { requestId: id, resumeToken }, 8)).last;
    return {
      clock,
      store,
      near,
      far,
      call: (more: object = {}) =>
        send(near, 'tools/call', { name: program.name, arguments: {}, ...more }),
      resume: (resumeToken: unknown) => send(far, 'requests/resume', { resumeToken }),
      status: (resumeToken: unknown) => statusAt(far, resumeToken),
      statusNear: (resumeToken: unknown) => statusAt(near, resumeToken),
    };
  }

  const tokensIn = ({ messages }: RawAnswer): readonly unknown[] =>
    messages.filter(({ method }) => method === policy).map(({ params }) => params?.['resumeToken']);

  const is = (state: string, hasInputRequest = false): Partial<RawMessage> => ({
    result: expect.objectContaining({ status: state, hasInputRequest }) as never,
  });

  /** Calls a tool. Returns the first token, which the client gets while the call still runs. */
  const callInBackground = async ({ host }: TestHost, name: string) => {
    const params = { name, arguments: {}, _meta: declared };
    const request = post(era, 'tools/call', params, id, { headers: { 'mcp-name': name } });
    const response = await handlerOf(host).fetch(request);
    const told = deferred<unknown>();
    const readToEnd = async (): Promise<string> => {
      let received = '';
      for await (const chunk of response.body as ReadableStream<Uint8Array>) {
        received += new TextDecoder().decode(chunk);
        const [, token] = /"resumeToken":"([^"]+)"/.exec(received) ?? [];
        if (token !== undefined) told.resolve(token);
      }
      return received;
    };
    const ended = readToEnd();
    return { token: await told.promise, ended };
  };

  const text = (said: string): object => ({ result: { content: [{ type: 'text', text: said }] } });

  const ending = (body: () => unknown): Program =>
    saga({ name: 'ending', version: '1' }, function* () {
      yield* step('first', () => undefined);
      yield* step('second', () => void body());
      return 'ended';
    });

  test('[W7] is completed if the request is, for each token of the client', async () => {
    const { call, resume, status, far } = setUp(ending(() => undefined));
    const tokens = tokensIn(await call());
    expect(tokens).toHaveLength(2);
    for (const token of tokens) {
      expect(await status(token)).toMatchObject(is('completed'));
      expect(far.told.turns).toEqual([]);
      expect((await resume(token)).last).toMatchObject(text('ended'));
    }
  });

  test('[W7] is failed if the request is', async () => {
    const { call, resume, status } = setUp(
      ending(() => {
        throw new SagaError('It failed');
      }),
    );
    const [token] = tokensIn(await call());
    expect(await status(token)).toMatchObject(is('failed'));
    expect((await resume(token)).last).toMatchObject({ result: { isError: true } });
  });

  test('[W7] is processing while a step runs, without a wait for the step', async () => {
    const begun = deferred<undefined>();
    const goOn = deferred<undefined>();
    let runs = 0;
    const slow = saga({ name: 'ending', version: '1' }, function* () {
      yield* step('first', async () => {
        runs += 1;
        begun.resolve(undefined);
        await goOn.promise;
      });
      return 'ended';
    });
    const { near, call, status } = setUp(slow);
    const { token } = await callInBackground(near, 'ending');
    await begun.promise;
    expect(await status(token)).toMatchObject(is('processing'));
    goOn.resolve(undefined);
    await expect.poll(() => status(token)).toMatchObject(is('completed'));
    expect(runs).toBe(1);
    expect((await call()).last).toMatchObject(text('ended'));
  });

  test('[E1] [W7] takes nothing from a request that has run for longer than its lease in this process', async () => {
    const begun = deferred<undefined>();
    const goOn = deferred<undefined>();
    const slow = saga({ name: 'slow', version: '1' }, function* () {
      yield* step('first', async () => {
        begun.resolve(undefined);
        await goOn.promise;
      });
      return 'ended';
    });
    const { near, clock, statusNear } = setUp(slow);
    const { token, ended } = await callInBackground(near, 'slow');
    await begun.promise;
    clock.now += 61_000;
    expect(await statusNear(token)).toMatchObject(is('processing'));
    goOn.resolve(undefined);
    expect(await ended).toContain('"text":"ended"');
    expect(await statusNear(token)).toMatchObject(is('completed'));
  });

  test('[E1] [W7] does not hide that a process has died, and the request may be resumed', async () => {
    const keys: string[] = [];
    const clock = testClock();
    const store = memoryStore({ clock });
    const killed = storeWithGuard(
      () => ({ finish: () => Promise.reject(new Error('killed')) }),
      store,
    );
    const pays = saga({ name: 'pays', version: '1' }, function* () {
      yield* step('pay', ({ idempotencyKey }) => void keys.push(idempotencyKey));
      return 'paid';
    });
    const options = { clock, anonymous: { resumableRequests: 'accept' } } as const;
    const serve = (shared: SagaStore): Fetches =>
      handlerOf(hostOf(pays, { ...options, store: shared }).host);
    const [dying, other] = [serve(killed), serve(store)];
    const send = async (server: Fetches, method: string, params: object, requestId = id) => {
      const headers = { headers: { 'mcp-name': 'pays' } };
      const request = post(era, method, { ...params, _meta: declared }, requestId, headers);
      return await read(await server.fetch(request));
    };
    const cut = await send(dying, 'tools/call', { name: 'pays', arguments: {} });
    const [resumeToken] = tokensIn(cut);
    expect(cut.last).toHaveProperty('error');
    clock.now += 120_000;
    for (const _ of ['once', 'again']) {
      const { last } = await send(other, 'requests/getStatus', { requestId: id, resumeToken }, 8);
      expect(last).toMatchObject(is('processing'));
    }
    const resumed = await send(other, 'requests/resume', { resumeToken });
    expect(resumed.last).toMatchObject(text('paid'));
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  test('[W7] leaves an unused token good, also for answers', async () => {
    const asks = saga({ name: 'asks', version: '1' }, function* () {
      const { target } = yield* elicit('where', { message: 'Where?', schema: Target });
      return target;
    });
    const { near, store, call, status } = setUp(asks, { answerers: { model: 'accept' } } as object);
    const first = await call();
    const [token] = tokensIn(first);
    for (const _ of ['once', 'again'])
      expect(await status(token)).toMatchObject(is('processing', true));
    // The guard knows nothing of the look.
    expect(store.size).toBe(0);
    const answers = { where: { action: 'accept', content: { target: 'here' } } };
    const { requestState, nextResumeToken } = first.last.result as {
      readonly requestState?: unknown;
      readonly nextResumeToken?: unknown;
    };
    const answered = await call(
      requestState === undefined
        ? { arguments: { resumeToken: nextResumeToken, answers } }
        : { requestState, inputResponses: answers },
    );
    expect(answered.last).toMatchObject(text('here'));
    expect(await status(token)).toMatchObject(is('completed'));
    expect(near.told.rejections).toEqual([]);
  });

  test('[W7] is that of the newest turn', async () => {
    const twice = saga({ name: 'twice', version: '1' }, function* () {
      yield* step('first', () => undefined);
      yield* step('second', () => undefined);
      yield* elicit('where', { message: 'Where?', schema: Target });
      return 'ended';
    });
    const { call, status } = setUp(twice, { answerers: { model: 'accept' } } as object);
    const [token] = tokensIn(await call());
    expect(await status(token)).toMatchObject(is('processing', true));
  });

  test('[W7] is completed without a guard if only time was missing', async () => {
    const waiting = saga({ name: 'waiting', version: '1' }, function* () {
      yield* sleep(90_000);
      return 'waited';
    });
    const { clock, call, status, resume } = setUp(waiting, { guarded: false });
    const [token] = tokensIn(await call());
    expect(await status(token)).toMatchObject(is('processing'));
    clock.now += 90_000;
    expect(await status(token)).toMatchObject(is('completed'));
    expect((await resume(token)).last).toMatchObject(text('waited'));
  });

  test('[W7] [T14] is subject to the rate limit', async () => {
    let allowed = true;
    const { call, status } = setUp(
      ending(() => undefined),
      { auth: { rateLimit: () => allowed } } as object,
    );
    const [token] = tokensIn(await call());
    allowed = false;
    expect(await status(token)).toMatchObject({ error: { data: { reason: 'rate_limited' } } });
  });
});
