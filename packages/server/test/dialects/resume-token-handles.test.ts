import {
  checkpoint,
  elicit,
  memoryStore,
  saga,
  sleep,
  step,
  type SagaStore,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { called, sent, served, type Served } from '../fixtures/calling.ts';
import { testClock } from '../fixtures/clock.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hostOf } from '../fixtures/host.ts';
import { ask, eras, post } from '../fixtures/raw.ts';
import { asking, complexTool, Target } from '../fixtures/sagas.ts';
import { hostForAll, send } from '../fixtures/ways.ts';

const key = 'io.github.mcp-saga/saga';
const accepting = { answerers: { model: 'accept' } } as const;
const handle = /^[\w-]{22}$/;
const refused = {
  error: {
    code: -32602,
    message: expect.any(String) as string,
    data: { reason: 'invalid_resume_token' },
  },
};

/** A store that can be looked into. */
function openStore(
  clock: () => number = Date.now,
): SagaStore & { readonly entries: Map<string, string> } {
  const store = memoryStore({ clock });
  const entries = new Map<string, string>();
  return {
    ...store,
    entries,
    write: (place, value, ...rest) => {
      entries.set(place.group, value.body ?? '');
      return store.write(place, value, ...rest);
    },
  };
}

function twice(text: string, part: string): number {
  return text.split(part).length - 1;
}

describe.each(eras)('%s', (era) => {
  test('[W1] a token is once in the text, once in nextResumeToken, and nowhere else', async () => {
    const { server } = served([asking()], accepting);
    const { result, text, token = '' } = await called(server, era, { name: 'asking' });
    expect(result['nextResumeToken']).toBe(token);
    expect(twice(text, token)).toBe(1);
    expect(twice(JSON.stringify(result), token)).toBe(2);
  });

  test('[W1] a handle of 22 characters replaces the token on every server with the store', async () => {
    const store = openStore(() => clock.now);
    const keys: string[] = [];
    const { server, clock, told }: Served = served([complexTool((used) => keys.push(used))], {
      ...accepting,
      store,
    });
    const args = { initial_arg: 'value' };
    const first = await called(server, era, { name: 'complex_tool', arguments: args });
    expect(first.token).toMatch(handle);
    const target = { 'step-elicitation-A': { target: 'production' } };
    const second = await called(server, era, {
      name: 'complex_tool',
      arguments: { ...args, resumeToken: first.token, answers: target },
    });
    expect(second.token).toMatch(handle);
    expect(second.token).not.toBe(first.token);
    const third = await called(server, era, {
      name: 'complex_tool',
      arguments: { ...args, answers: { 'step-sampling-B': 'Yes.' } },
      _meta: { resumeToken: second.token },
    });
    expect(third).toMatchObject({ token: undefined, isError: false });
    expect(keys).toHaveLength(1);
    expect(told.errors).toEqual([]);
  });

  test('[T5] an invalid handle is refused as an invalid token', async () => {
    const store = openStore(() => clock.now);
    const { server, clock, told }: Served = served([asking(), asking('other')], {
      ...accepting,
      store,
    });
    const { token } = await called(server, era, { name: 'asking', arguments: { a: 1 } });
    const resumed = (resumeToken: unknown, more: object = {}, name = 'asking') =>
      sent(server, era, {
        name,
        arguments: { a: 1, ...more, resumeToken, answers: { target: {} } },
      });
    expect(await resumed('A'.repeat(22))).toMatchObject(refused);
    expect(await resumed(String(token).slice(1))).toMatchObject(refused);
    expect(await resumed(token, { a: 2 })).toMatchObject(refused);
    expect(await resumed(token, {}, 'other')).toMatchObject(refused);
    // An entry of the store is not a token.
    for (const entry of [...store.entries].flat()) {
      expect(await resumed(entry)).toMatchObject(refused);
    }
    const asSaga = await ask(server, era, 'tools/resumeSaga', { sagaToken: token });
    expect(asSaga.last).toMatchObject({
      error: { code: -32602, data: { reason: 'invalid_saga_token' } },
    });
    clock.now += 3_600_000 + 30_000;
    expect(await resumed(token)).toMatchObject(refused);
    expect(new Set(told.rejections.map(({ reason }) => reason))).toEqual(
      new Set(['unknown_handle', 'malformed', 'arguments', 'target', 'undecryptable', 'method']),
    );
  });

  test('[T13] a handle is used once under a guard, and a repeated call gets the same response', async () => {
    const clock = testClock();
    const ran: string[] = [];
    const once = saga({ name: 'once', version: '1' }, function* () {
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      yield* step('go', () => void ran.push(target));
      return target;
    });
    const options = { ...accepting, store: memoryStore({ clock }) };
    const { server } = served([once], options);
    const { token } = await called(server, era, { name: 'once' });
    expect(token).toMatch(handle);
    const answered = (target: string) =>
      sent(server, era, {
        name: 'once',
        arguments: { resumeToken: token, answers: { target: { target } } },
      });
    expect(await answered('here')).toMatchObject({ result: { content: [{ text: 'here' }] } });
    expect(await answered('here')).toMatchObject({ result: { content: [{ text: 'here' }] } });
    expect(await answered('there')).toMatchObject(refused);
    expect(ran).toEqual(['here']);
  });

  test('[P2] a token from before the host had a store is still valid', async () => {
    const before = served([asking()], accepting);
    const { token } = await called(before.server, era, { name: 'asking' });
    const store = memoryStore({ olderTokens: 'accept' });
    const after = served([asking()], { ...accepting, store });
    const args = { resumeToken: token, answers: { target: { target: 'here' } } };
    expect(await called(after.server, era, { name: 'asking', arguments: args })).toMatchObject({
      token: undefined,
      text: expect.stringContaining('here') as string,
    });
  });

  test('[E10] without its store, a host returns tokens, and a handle gets a retryable error', async () => {
    let isDown = false;
    const kept = memoryStore({ clock: () => clock.now });
    const down = (): never => {
      throw new Error('no store');
    };
    const store: SagaStore = {
      ...kept,
      read: (place) => (isDown ? down() : kept.read(place)),
      write: (...entry) => (isDown ? down() : kept.write(...entry)),
    };
    const { server, told, clock }: Served = served([asking()], {
      ...accepting,
      store,
    });
    const { token } = await called(server, era, { name: 'asking' });
    isDown = true;
    const args = { resumeToken: token, answers: { target: { target: 'here' } } };
    expect(await sent(server, era, { name: 'asking', arguments: args })).toMatchObject({
      error: { code: -32603, data: { reason: 'store_down' } },
    });
    const whole = await called(server, era, { name: 'asking' });
    expect(String(whole.token).split('.')).toHaveLength(5);
    expect(told.errors).toHaveLength(2);
    isDown = false;
    expect((await called(server, era, { name: 'asking', arguments: args })).text).toContain('here');
  });

  test('[W6] a wait is held in part in each call, up to maxHold', async () => {
    const held: number[] = [];
    const sleeping = saga({ name: 'sleeping', version: '1' }, function* () {
      yield* sleep(45_000);
      return 'awake';
    });
    const { server, clock } = served([sleeping], {
      limits: { maxHold: 20_000 },
      testing: {
        sleep: (ms) => {
          held.push(ms);
          clock.now += ms;
          return Promise.resolve();
        },
      },
    });
    const first = await called(server, era, { name: 'sleeping' });
    expect(first.result['_meta']).toMatchObject({ [key]: { retryAfterMs: 25_000 } });
    const second = await called(server, era, {
      name: 'sleeping',
      arguments: { resumeToken: first.token },
    });
    const third = await called(server, era, {
      name: 'sleeping',
      arguments: { resumeToken: second.token },
    });
    expect(third).toMatchObject({ text: 'awake', token: undefined });
    expect(held).toEqual([20_000, 20_000, 5_000]);
  });

  test('[W1] expiresAt in the text and in _meta is the expiry of the token', async () => {
    const { server, clock } = served([asking()], { ...accepting, limits: { tokenTtl: 90_000 } });
    const { result, text } = await called(server, era, { name: 'asking' });
    const expiresAt = new Date(clock.now + 90_000).toISOString();
    expect(result['_meta']).toMatchObject({ [key]: { expiresAt } });
    expect(text).toContain(expiresAt);
    const suspended = await ask(server, era, 'tools/callSaga', { name: 'asking' });
    expect(suspended.last.result).toMatchObject({
      state: 'suspended',
      _meta: { [key]: { expiresAt } },
    });
  });

  test('[T11] a token of 8 kB causes a warning about copying by a model, and a handle does not', async () => {
    const large = saga({ name: 'large', version: '1' }, function* () {
      yield* step('make', () => 'x'.repeat(6_000));
      yield* elicit('target', { message: 'Where?', schema: Target });
      return '';
    });
    const { server, told } = served([large], accepting);
    const { token } = await called(server, era, { name: 'large' });
    expect(String(token).length).toBeGreaterThan(8_000);
    expect(told.warnings).toEqual([expect.stringContaining("'make'")]);
    const store = memoryStore({ olderTokens: 'accept' });
    const kept = served([large], { ...accepting, store });
    await called(kept.server, era, { name: 'large' });
    expect(kept.told.warnings).toEqual([]);
  });
});

test('[U4] an abort ends a held wait, and its token stays valid', async () => {
  const held = deferred<AbortSignal>();
  let waits = 0;
  const sleeping = saga({ name: 'sleeping', version: '1' }, function* () {
    yield* checkpoint();
    yield* sleep(10_000);
    return 'awake';
  });
  const { server, clock }: Served = served([sleeping], {
    limits: { maxHold: 20_000 },
    testing: {
      sleep: async (ms, signal) => {
        waits += 1;
        if (waits > 1) clock.now += ms;
        if (waits > 1) return;
        const isAborted = new Promise((resolve) => signal.addEventListener('abort', resolve));
        held.resolve(signal);
        await isAborted;
      },
    },
  });
  const { token } = await called(server, 'modern', { name: 'sleeping' });
  const call = { name: 'sleeping', arguments: { resumeToken: token } };
  const leaving = new AbortController();
  const init = { signal: leaving.signal, headers: { 'mcp-name': 'sleeping' } };
  const params = { ...call, _meta: { 'io.modelcontextprotocol/clientCapabilities': {} } };
  const answered = server
    .fetch(post('modern', 'tools/call', params, 1, init))
    .catch(() => undefined);
  const signal = await held.promise;
  leaving.abort();
  await answered;
  expect(signal.aborted).toBe(true);
  expect((await called(server, 'modern', call)).text).toBe('awake');
});

test('[W1] requests/resume and requests/getStatus accept a handle in place of its token', async () => {
  const clock = testClock();
  const host = hostForAll([asking()], {
    clock,
    store: memoryStore({ clock }),
    shortTokens: true,
  });
  const capabilities = { resumableRequests: {} };
  const begun = await send(host, 'tools/call', { name: 'asking', arguments: {} }, { capabilities });
  const resumeToken = begun.last.result?.['nextResumeToken'];
  expect(resumeToken).toMatch(handle);
  const status = await send(
    host,
    'requests/getStatus',
    { requestId: 1, resumeToken },
    { capabilities },
  );
  expect(status.last.result).toMatchObject({ status: 'processing', hasInputRequest: true });
  const resumed = await send(host, 'requests/resume', { resumeToken }, { capabilities });
  expect(resumed.last.result?.['nextResumeToken']).toMatch(handle);
});

test('[T6] a handle opens only for the user that started the saga', async () => {
  const clock = testClock();
  const host = hostForAll([asking()], {
    clock,
    store: memoryStore({ clock }),
    shortTokens: true,
  });
  const begun = await send(host, 'tools/call', { name: 'asking', arguments: {} }, { user: 'ann' });
  const token = begun.last.result?.['nextResumeToken'];
  expect(token).toMatch(handle);
  const args = { resumeToken: token, answers: { target: { target: 'here' } } };
  for (const user of ['bob', undefined]) {
    const other = await send(host, 'tools/call', { name: 'asking', arguments: args }, { user });
    expect(other.last).toMatchObject(refused);
  }
  const own = await send(host, 'tools/call', { name: 'asking', arguments: args }, { user: 'ann' });
  expect(own.last).toMatchObject({
    result: { content: [{ text: expect.stringContaining('here') as string }] },
  });
});

test('[T11] an entry of the store expires with its token', async () => {
  const clock = testClock();
  const store = memoryStore({ clock });
  const kept: number[] = [];
  const watched: SagaStore = {
    ...store,
    write: (place, value, expected, options) => {
      kept.push(options.expiresAtMs);
      return store.write(place, value, expected, options);
    },
  };
  const { server, clock: time } = served([asking()], {
    ...accepting,
    limits: { tokenTtl: 60_000 },
    store: watched,
  });
  await called(server, 'modern', { name: 'asking' });
  // Clocks of two servers may be 30 s apart.
  expect(kept).toEqual([time.now + 90_000]);
});

test.each([
  ['a number', { shortTokens: 7, store: memoryStore() }],
  ['a store', { shortTokens: { store: memoryStore() }, store: memoryStore() }],
  ['true without a store', { shortTokens: true }],
])('shortTokens: %s is refused at the creation of the host', (_, options) => {
  expect(() => hostOf(asking(), options as never)).toThrow(/shortTokens/);
});

test('[W1] a host with a store gives tokens that models copy with shortTokens: false', async () => {
  const store = openStore();
  const { server } = served([asking()], {
    ...accepting,
    store,
    shortTokens: false,
  });
  const { token } = await called(server, 'modern', { name: 'asking' });
  expect(token?.length).toBeGreaterThan(100);
  expect(store.entries.size).toBe(0);
});
