import { elicit, memoryStore, saga, sleep, type SagaHost } from '@mcp-saga/server';
import { assert, asyncProperty, integer, constantFrom } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { hostOf, newKey } from '../fixtures/host.ts';
import { reviewPrompt } from '../fixtures/prompts.ts';
import { ask, type RawAnswer } from '../fixtures/raw.ts';
import {
  accepted,
  asked,
  handlerOf,
  refusedState,
  round,
  type RoundRequest,
} from '../fixtures/rounds.ts';
import { asking, complexTool, Target } from '../fixtures/sagas.ts';

const call = { method: 'tools/call', name: 'asking', arguments: { size: 1 } } as const;
const inputResponses = { target: accepted({ target: 'moon' }) };
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';

async function stateOf(host: SagaHost, request: RoundRequest = call): Promise<string> {
  return asked(await round(handlerOf(host), request)).requestState;
}

function refused({ last, status }: RawAnswer): void {
  expect(last).toMatchObject(refusedState);
  expect(last.result).toBeUndefined();
  expect(status).toBe(200);
}

describe('a request state is rejected with a JSON-RPC error', () => {
  test('[T5] if any character changed', async () => {
    const { host, told } = hostOf(asking());
    const server = handlerOf(host);
    const requestState = await stateOf(host);
    const last = requestState.length - 1;
    await assert(
      asyncProperty(
        integer({ min: 0, max: last }),
        constantFrom(...alphabet.split('')),
        async (at, other) => {
          const changed = requestState.slice(0, at) + other + requestState.slice(at + 1);
          if (changed === requestState) return;
          refused(await round(server, call, { requestState: changed, inputResponses }));
        },
      ),
      { numRuns: 300 },
    );
    expect(told.turns).toHaveLength(1);
  });

  test.each([
    ['longer', (state: string) => `${state}-TAMPERED`],
    ['shorter', (state: string) => state.slice(0, -1)],
    ['empty', () => ''],
    ['blank', () => ' '],
    ['surrounded by space', (state: string) => ` ${state} `],
    ['a number', () => 7],
    ['null', () => null],
    ['an object', (state: string) => ({ state })],
    ['an array', (state: string) => [state]],
    ['true', () => true],
    ['very long', () => 'A'.repeat(1_000_000)],
  ])('[T5] if it is %s', async (_, change) => {
    const { host, told } = hostOf(asking());
    const requestState = change(await stateOf(host));
    refused(await round(handlerOf(host), call, { requestState, inputResponses }));
    expect(told.turns).toHaveLength(1);
  });

  test('[T6] if it has expired', async () => {
    const clock = testClock();
    const { host, told } = hostOf(asking(), { clock, limits: { tokenTtl: 60_000 } });
    const requestState = await stateOf(host);
    clock.now += 60_000 + 30_000;
    refused(await round(handlerOf(host), call, { requestState, inputResponses }));
    expect(told.rejections).toMatchObject([{ reason: 'expired' }]);
  });

  test('[T6] for another saga or other arguments', async () => {
    const { host, told } = hostOf([asking(), asking('other')]);
    const server = handlerOf(host);
    const requestState = await stateOf(host);
    const requests: readonly RoundRequest[] = [
      { ...call, name: 'other' },
      { ...call, arguments: { size: 2 } },
      { ...call, arguments: {} },
      { method: 'tools/call', name: 'asking' },
    ];
    for (const request of requests) {
      refused(await round(server, request, { requestState, inputResponses }));
    }
    expect(told.rejections.map(({ reason }) => reason)).toEqual([
      'target',
      'arguments',
      'arguments',
      'arguments',
    ]);
  });

  test('[T6] but the members of the arguments may have another order', async () => {
    const { host } = hostOf(asking());
    const requestState = await stateOf(host, { ...call, arguments: { a: 1, b: { c: 1, d: 2 } } });
    const request = { ...call, arguments: { b: { d: 2, c: 1 }, a: 1 } };
    const { last } = await round(handlerOf(host), request, { requestState, inputResponses });
    expect(last.result).toMatchObject({ content: [{ text: 'moon' }] });
  });

  test('[T6] for another principal', async () => {
    const { host, told } = hostOf(asking(), {
      anonymous: { calls: 'accept' },
      auth: { principal: 'client-only' },
    });
    const auth = (clientId: string): object => ({
      authInfo: { token: 'kq', clientId, scopes: [] },
    });
    const { requestState } = asked(await round(handlerOf(host, auth('ada')), call));
    refused(await round(handlerOf(host, auth('bob')), call, { requestState, inputResponses }));
    refused(await round(handlerOf(host), call, { requestState, inputResponses }));
    const { last } = await round(handlerOf(host, auth('ada')), call, {
      requestState,
      inputResponses,
    });
    expect(last.result).toMatchObject({ content: [{ text: 'moon' }] });
    expect(told.rejections.map(({ reason }) => reason)).toEqual(['principal', 'principal']);
  });

  test('[T3] with another key or another audience', async () => {
    const { host } = hostOf(asking());
    const requestState = await stateOf(host);
    for (const options of [{ keys: newKey }, { audience: 'other' }]) {
      const other = hostOf(asking(), options);
      refused(await round(handlerOf(other.host), call, { requestState, inputResponses }));
    }
  });

  test('[T6] of the saga methods or a prompt, which reject the state of a tool as well', async () => {
    const { host } = hostOf([asking(), reviewPrompt()]);
    const server = handlerOf(host);
    const requestState = await stateOf(host);
    const started = await ask(server, 'modern', 'tools/callSaga', {
      name: 'asking',
      arguments: { size: 1 },
    });
    const sagaToken = started.last.result?.['sagaToken'];
    expect(sagaToken).toEqual(expect.any(String));
    refused(await round(server, call, { requestState: sagaToken, inputResponses }));
    const prompt = {
      method: 'prompts/get',
      name: 'review',
      arguments: { language: 'Ada' },
    } as const;
    refused(
      await round(server, call, { requestState: await stateOf(host, prompt), inputResponses }),
    );
    refused(await round(server, prompt, { requestState, inputResponses }));
    const resumed = await ask(server, 'modern', 'tools/resumeSaga', { sagaToken: requestState });
    expect(resumed.last.error).toMatchObject({
      code: -32_602,
      data: { reason: 'invalid_saga_token' },
    });
  });

  test('[T13] if it was used with other answers, and forks are refused', async () => {
    const once = saga({ name: 'asking', version: '1' }, function* () {
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      return target;
    });
    const { host } = hostOf(once, { store: memoryStore({ clock: testClock() }) });
    const server = handlerOf(host);
    const requestState = await stateOf(host);
    const first = await round(server, call, { requestState, inputResponses });
    const again = await round(server, call, { requestState, inputResponses });
    expect(again.last.result).toEqual(first.last.result);
    const mars = { target: accepted({ target: 'mars' }) };
    refused(await round(server, call, { requestState, inputResponses: mars }));
  });

  test('and too many answers are rejected with the name of their field', async () => {
    const { host } = hostOf(asking());
    const requestState = await stateOf(host);
    const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`a${at}`, {}]));
    const { last } = await round(handlerOf(host), call, { requestState, inputResponses: many });
    expect(last.error).toMatchObject({
      code: -32_602,
      message: expect.stringContaining('inputResponses: more than 2000'),
    });
  });

  test('[T11] and the answer limit of the first request is that of later requests', async () => {
    const { host, told } = hostOf(asking());
    const server = handlerOf(host);
    const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`a${at}`, {}]));
    const { last } = await round(server, call, { inputResponses: many });
    expect(last.error).toMatchObject({
      code: -32_602,
      message: expect.stringContaining('inputResponses: more than 2000'),
    });
    expect(told.turns).toEqual([]);
    expect(told.ignored).toEqual([]);
    const { a2000: _one, ...fewer } = many;
    asked(await round(server, call, { inputResponses: fewer }));
    expect(told.ignored).toHaveLength(2_000);
  });

  test('[E10] and stays valid if the version of its saga is gone', async () => {
    const { host } = hostOf(asking());
    const requestState = await stateOf(host);
    const newer = hostOf(asking('asking', '2'));
    const { last } = await round(handlerOf(newer.host), call, { requestState, inputResponses });
    expect(last.error).toMatchObject({ code: -32_603, data: { reason: 'version_gone' } });
    const again = await round(handlerOf(host), call, { requestState, inputResponses });
    expect(again.last.result).toMatchObject({ resultType: 'complete' });
  });

  test('but a failing saga is a tool result with isError', async () => {
    const failing = saga({ name: 'asking', version: '1' }, function* () {
      yield* sleep(0);
      throw new Error('kq-918273');
    });
    const { last } = await round(handlerOf(hostOf([failing, complexTool()]).host), call);
    expect(last.result).toMatchObject({ isError: true, content: [{ text: "'asking' failed." }] });
  });
});
