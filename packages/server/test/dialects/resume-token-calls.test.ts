import { checkpoint, elicit, saga, sleep, type Program } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import type { ClientCall, ClientFacts } from '../../src/model/call-types.ts';
import { coreOf } from '../../src/saga-host.ts';
import { dialectOf } from '../../src/dialects/dialects.ts';
import { resumeToken } from '../../src/dialects/resume-token.ts';
import { toToolResult } from '../../src/wire/tool-result.ts';
import { toCallResult } from '../fixtures/calling.ts';
import { start, type TestClock } from '../fixtures/clock.ts';
import { hostOf } from '../fixtures/host.ts';
import { asking, Empty } from '../fixtures/sagas.ts';

// Like a server of SDK 1 that is used again for each request: it has the declared capabilities, and
// cannot ask.
const unreachable: ClientFacts = {
  era: 'legacy',
  isSession: false,
  capabilities: { elicitation: {}, sampling: {} },
  asks: ['elicitation', 'sampling'],
  canBeModern: true,
  noteLacking: () => undefined,
};

function callOf(program: Program, more: Partial<ClientCall> = {}): ClientCall {
  return {
    method: 'tools/call',
    saga: program,
    args: {},
    meta: {},
    id: 1,
    client: unreachable,
    caller: { capabilities: { elicitation: {}, sampling: {} } },
    connection: { line: undefined, isLost: () => false, watch: () => () => undefined },
    requestState: undefined,
    inputResponses: undefined,
    send: () => {
      throw new Error('nobody can be asked');
    },
    notify: () => Promise.resolve(),
    waitUntil: () => undefined,
    toResult: (turn) => toToolResult(program.name, turn),
    ...more,
  };
}

test('[W2] [W3] an unreachable client with elicitation continues by resume tokens', async () => {
  const program = asking();
  const { host } = hostOf(program, { answerers: { model: 'accept' } });
  const answer = async (args: object): Promise<ReturnType<typeof toCallResult>> => {
    const call = callOf(program, { args });
    const dialect = dialectOf(call, coreOf(host));
    expect(dialect).toBe(resumeToken);
    return toCallResult((await dialect.answer(coreOf(host), call)) as Record<string, unknown>);
  };
  const { token } = await answer({});
  expect(
    await answer({ resumeToken: token, answers: { target: { target: 'here' } } }),
  ).toMatchObject({
    text: 'here',
  });
});

test('[W1] [W3] prompts and resources hold waits and cannot ask, as no model can repeat their call', async () => {
  const waiting = saga({ name: 'waiting', version: '1' }, function* () {
    yield* checkpoint('a page');
    yield* sleep(1);
    return 'waited';
  });
  const question = saga({ name: 'question', version: '1' }, function* () {
    yield* elicit('go', { message: 'Go?', schema: Empty });
    return 'answered';
  });
  // The task continues whenever a client reads it.
  const clock: TestClock = Object.assign(() => (clock.now += 1), { now: start });
  const { host } = hostOf([waiting, question], { answerers: { model: 'accept' }, clock });
  const answer = async (program: Program): Promise<ReturnType<typeof toCallResult>> => {
    const meta = { resumeToken: 'not one of these' };
    const call = callOf(program, { method: 'prompts/get', meta });
    const dialect = dialectOf(call, coreOf(host));
    return toCallResult((await dialect.answer(coreOf(host), call)) as Record<string, unknown>);
  };
  expect(await answer(question)).toMatchObject({ isError: true, token: undefined });
  expect(await answer(waiting)).toMatchObject({ text: 'waited', token: undefined });
});
