import {
  createSagaHost,
  elicit,
  elicitUrl,
  info,
  listRoots,
  memoryStore,
  sample,
  saga,
  step,
  type Program,
} from '@mcp-saga/server';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { toCallResult } from '../fixtures/calling.ts';
import { connections } from '../fixtures/connections.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hostOf, oldKey, suspended, type TestHost } from '../fixtures/host.ts';
import { asked, handlerOf, round } from '../fixtures/rounds.ts';
import { Target } from '../fixtures/sagas.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const inSessions = connections.filter(({ name }) => name.includes('in memory'));
const unknownMethod = { code: -32_601, message: 'Method not found' };

const falling = saga({ name: 'falling', version: '1' }, function* () {
  const { target } = yield* elicit('target', {
    message: 'Where?',
    schema: Target,
    fallback: { target: 'staging' },
  });
  return target;
});

/** Asks one question of each kind, and returns their outcomes. */
const trying = saga({ name: 'trying', version: '1' }, function* () {
  const ends: string[] = [];
  const questions = [
    elicit('form', { message: 'Where?', schema: Target }),
    elicitUrl('page', { message: 'Open', url: 'https://pay.example/1' }),
    sample('model', { messages: [], maxTokens: 1 }),
    listRoots('roots'),
  ];
  for (const question of questions) {
    try {
      yield* question;
      ends.push('answered');
    } catch (error) {
      ends.push((error as { readonly code: string }).code);
    }
  }
  return ends.join(' ');
});

const all = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

describe.each(inSessions)(
  'a client without the handlers that it declares, $name',
  ({ connect }) => {
    test.each<[Program, string]>([
      [falling, 'staging'],
      [trying, 'client_cannot client_cannot client_cannot client_cannot'],
    ])(
      '[W3] gets the fallback or ClientCannot, as without the capability: %#',
      async (program, text) => {
        const { client, close } = await connect(hostOf(program).host, { capabilities: all });
        // Without a handler, a client of the SDK answers -32601.
        expect(await client.callTool({ name: program.name, arguments: {} })).toMatchObject({
          content: [{ text }],
        });
        await close();
      },
    );

    test.each([
      [['client', 'model', 'fallback'], true, true, 'model'],
      [['client', 'fallback', 'model'], true, true, 'server'],
      [['client', 'fallback', 'model'], true, false, 'model'],
      [['client', 'model', 'fallback'], false, true, 'server'],
      [['client', 'model', 'fallback'], false, false, 'nobody'],
    ] as const)(
      '[W3] leads to the next of its answerers: %j, model %j, fallback %j, answered by %s',
      async (answeredBy, acceptsModel, hasFallback, by) => {
        const where = saga({ name: 'where', version: '1' }, function* () {
          try {
            yield* elicit('target', {
              message: 'Where?',
              schema: Target,
              answeredBy,
              ...(hasFallback ? { fallback: { target: 'staging' } } : {}),
            });
          } catch {
            return 'nobody';
          }
          return String((yield* info()).answeredBy('target'));
        });
        const { host } = hostOf(where, {
          ...withGuard(),
          answerers: acceptsModel ? { model: 'accept' } : {},
        });
        const { client, close } = await connect(host, { capabilities: all });
        const call = async (args: object): Promise<ReturnType<typeof toCallResult>> =>
          toCallResult(await client.callTool({ name: 'where', arguments: { ...args } }));
        const first = await call({});
        if (by !== 'model') {
          expect(first).toMatchObject({ text: by, token: undefined });
        } else {
          const answers = JSON.stringify({
            target: { action: 'accept', content: { target: 'x' } },
          });
          const last = await call({ resumeToken: first.token, answers });
          expect(last).toMatchObject({ text: 'model', token: undefined });
        }
        await close();
      },
    );

    test('[W3] is asked only once for a capability that it lacks, in all calls of its session', async () => {
      const { host, told } = hostOf(trying);
      const { client, close } = await connect(host, { capabilities: all });
      const timesAsked = (): number => told.steps.filter(({ type }) => type === 'asked').length;
      await client.callTool({ name: 'trying', arguments: {} });
      expect(timesAsked()).toBe(4);
      await client.callTool({ name: 'trying', arguments: {} });
      expect(timesAsked()).toBe(4);
      await close();
    });
  },
);

describe('an unknown-method error of a client as a step result', () => {
  test('[W3] [W4] leads to the fallback, and may be repeated in each later turn', async () => {
    const two = saga({ name: 'two', version: '1' }, function* () {
      const one = yield* elicit('one', {
        message: 'One?',
        schema: Target,
        fallback: { target: 'a' },
      });
      const other = yield* elicit('other', { message: 'Other?', schema: Target });
      return `${one.target} ${other.target}`;
    });
    const { host, told } = hostOf(two);
    const lacks = { stepId: 'one', error: unknownMethod };
    const first = suspended(await host.start('two', {}));
    const second = suspended(await host.resume(first.token, [lacks]));
    expect(second.steps.map(({ stepId }) => stepId)).toEqual(['other']);
    const other = { stepId: 'other', result: { action: 'accept', content: { target: 'b' } } };
    expect(await host.resume(second.token, [lacks, other])).toMatchObject({ result: 'a b' });
    expect(told.ignored).toEqual([]);
  });

  test('[W3] lets the host sample instead of the client', async () => {
    const asking = saga({ name: 'asking', version: '1' }, function* () {
      return (yield* sample('model', { messages: [], maxTokens: 1 })).model;
    });
    const { host } = hostOf(asking, {
      answerers: {
        sampling: () => ({
          role: 'assistant',
          content: { type: 'text', text: 'yes' },
          model: 'own',
        }),
      },
    });
    const { token } = suspended(await host.start('asking', {}));
    expect(await host.resume(token, [{ stepId: 'model', error: unknownMethod }])).toMatchObject({
      result: 'own',
    });
  });
});

function withGuard(): Parameters<typeof hostOf>[1] {
  const clock = testClock();
  return { clock, store: memoryStore({ clock }) };
}

describe('an instant refusal of a client', () => {
  afterEach(() => void vi.useRealTimers());

  const refusal = { stepId: 'target', result: { action: 'decline' } };

  async function refusedAfter(
    ms: number,
    options: Parameters<typeof hostOf>[1] = {},
  ): Promise<TestHost> {
    const made = hostOf(falling, options);
    const { token } = suspended(await made.host.start('falling', {}));
    made.clock.now += ms;
    const turn = await made.host.resume(token, [refusal]);
    made.clock.now += 10_000;
    // A repeated request.
    if (options.store !== undefined) {
      const again = await made.host.resume(token, [refusal]);
      expect([again.status, 'result' in again && again.result]).toEqual([
        turn.status,
        'result' in turn && turn.result,
      ]);
    }
    const end = turn.status === 'completed' ? turn.result : turn.status;
    return Object.assign(made, { end });
  }

  test.each([
    [999, undefined, 'failed'],
    [999, 'refused', 'failed'],
    [999, 'unsupported', 'staging'],
    [1_000, 'unsupported', 'failed'],
  ] as const)(
    '[W3] leads to the fallback if the host treats it as unsupported: after %i ms, %j',
    async (ms, instantRefusals, end) => {
      for (const guarded of [() => ({}), withGuard]) {
        const made = await refusedAfter(ms, {
          answerers: { ...(instantRefusals && { instantRefusals }) },
          ...guarded(),
        });
        expect(made).toMatchObject({ end });
      }
    },
  );

  test.each([
    [999, {}, 1],
    [1_000, {}, 0],
    [999, { instantRefusals: 'unsupported' }, 0],
  ] as const)(
    '[W3] is told to the operator once a minute for each saga: after %i ms with %j, %i times',
    async (ms, answerers, count) => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const onWarning = vi.fn();
      const host = createSagaHost({
        keys: oldKey,
        name: 'deployer',
        sagas: [falling],
        answerers,
        hooks: { onWarning, onTurn: () => undefined },
        testing: { environment: 'production' },
      });
      for (let minute = 0; minute < 2; minute += 1) {
        for (let call = 0; call < 3; call += 1) {
          const { token } = suspended(await host.start('falling', {}));
          vi.setSystemTime(Date.now() + ms);
          await host.resume(token, [refusal]);
        }
        expect(onWarning).toHaveBeenCalledTimes((minute + 1) * count);
        vi.setSystemTime(Date.now() + 60_000);
      }
    },
  );

  test('[W3] leads to the fallback in rounds, too', async () => {
    const { host } = hostOf(falling, {
      answerers: { instantRefusals: 'unsupported' },
    });
    const server = handlerOf(host);
    const call = { method: 'tools/call', name: 'falling' } as const;
    const { requestState } = asked(await round(server, call));
    const inputResponses = { target: { action: 'cancel' } };
    const { last } = await round(server, call, { requestState, inputResponses });
    expect(last.result).toMatchObject({ content: [{ text: 'staging' }] });
  });

  test('[W3] is configured by checked options', () => {
    expect(() => hostOf(falling, { answerers: { instantRefusals: 'cannot' as never } })).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
  });
});

describe('a URL question in rounds', () => {
  test('[W1] has an elicitation ID, which some clients require', async () => {
    const paying = saga({ name: 'paying', version: '1' }, function* () {
      yield* elicitUrl('pay', { message: 'Pay here', url: 'https://pay.example/1' });
      return 'paid';
    });
    const server = handlerOf(hostOf(paying).host);
    const call = { method: 'tools/call', name: 'paying' } as const;
    const first = asked(await round(server, call));
    const elicitationId: unknown = Object(first.requests['pay']?.params).elicitationId;
    expect(elicitationId).toMatch(/^[\w-]+\.pay$/);
    // The same question has the same ID in each round.
    const again = asked(
      await round(server, call, { requestState: first.requestState, inputResponses: {} }),
    );
    expect(again.requests).toEqual(first.requests);
  });
});

describe('a client without a declared capability, with resumable requests', () => {
  const options = { anonymous: { resumableRequests: 'accept' } } as const;

  test.each(inSessions)('[W3] is asked once in a session: $name', async ({ connect }) => {
    const capabilities = { ...all, experimental: { resumableRequests: {} } };
    const { host, told } = hostOf(falling, options);
    const { client, close } = await connect(host, { capabilities });
    expect(await client.callTool({ name: 'falling', arguments: {} })).toMatchObject({
      content: [{ text: 'staging' }],
    });
    expect(told.steps.filter(({ type }) => type === 'asked').length).toBeLessThan(3);
    await close();
  });

  test('[W3] is asked in one round if its refusal is instant', async () => {
    const { host } = hostOf(falling, {
      ...options,
      answerers: { instantRefusals: 'unsupported' },
    });
    const server = handlerOf(host);
    const call = { method: 'tools/call', name: 'falling' } as const;
    const capabilities = { ...all, resumableRequests: {} };
    const { requestState } = asked(await round(server, call, { capabilities }));
    const inputResponses = { target: { action: 'decline' } };
    const { last } = await round(server, call, { capabilities, requestState, inputResponses });
    expect(last).toMatchObject({ result: { content: [{ text: 'staging' }] } });
  });
});

test('[E9] a host with another option repeats an interrupted turn with the first option', async () => {
  const paying = saga({ name: 'paying', version: '1' }, function* () {
    yield* elicit('target', { message: 'Where?', schema: Target, fallback: { target: 'staging' } });
    return yield* step('pay', () => 'paid');
  });
  const clock = testClock();
  const store = memoryStore({ clock });
  const killed = deferred<never>();
  const paid = deferred<undefined>();
  const dying = storeWithGuard(
    () => ({
      finish: () => {
        paid.resolve(undefined);
        return killed.promise;
      },
    }),
    store,
  );
  const { host } = hostOf(paying, {
    clock,
    store: dying,
    answerers: { instantRefusals: 'unsupported' },
  });
  const { token } = suspended(await host.start('paying', {}));
  const refusal = { stepId: 'target', result: { action: 'decline' } };
  void host.resume(token, [refusal]);
  await paid.promise;
  clock.now += 61_000;
  // It does not tell of a payment that it was declined.
  expect(await hostOf(paying, { clock, store }).host.resume(token, [refusal])).toMatchObject({
    result: 'paid',
  });
});
