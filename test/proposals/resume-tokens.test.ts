import { checkpoint, elicit, memoryStore, saga, SagaError, step } from '@mcp-saga/server';
import { expect } from 'vitest';
import { served } from '../../packages/server/test/fixtures/calling.ts';
import { testClock } from '../../packages/server/test/fixtures/clock.ts';
import { Empty } from '../../packages/server/test/fixtures/sagas.ts';
import { readableIn, refusal, respond } from './exchange.ts';
import { alterEnd } from '../support/wire/tamper.ts';
import {
  call,
  eventual,
  expectComplete,
  given,
  resume,
  servedWith,
  tokenOf,
} from './long-running.ts';
import { testStatements } from './statement.ts';

const proposal = 'Resume tokens for long-running operations (PR 1003)';

const refused = refusal('invalid_resume_token');
const asking = saga({ name: 'long_running_tool', version: '1' }, function* () {
  yield* elicit('sure', { message: 'Sure?', schema: Empty });
  return 'done';
});
const failing = saga({ name: 'long_running_tool', version: '1' }, function* () {
  yield* checkpoint('begun');
  yield* step('fail', () => {
    throw new SagaError('It failed');
  });
  return 'never';
});

testStatements(proposal, [
  {
    level: 'example',
    says: 'a call answers with nextResumeToken, and is repeated with it as resumeToken until none comes',
    holds: async (era) => {
      const ran: string[] = [];
      const { server } = servedWith({}, ran);
      const first = await call(server, era);
      expect(first.result).toMatchObject({
        content: [{ type: 'text', text: 'value 1' }, { type: 'text' }],
        nextResumeToken: expect.any(String),
      });
      expectComplete(await resume(server, era, tokenOf(first)), 'value 2');
      expect(ran).toEqual(['part 1', 'last']);
    },
  },
  {
    level: 'example',
    says: 'the token comes in _meta of the repeated call, beside unchanged arguments',
    holds: async (era) => {
      const ran: string[] = [];
      const { server } = servedWith({}, ran);
      const token = tokenOf(await call(server, era));
      expectComplete(await call(server, era, { _meta: { resumeToken: token } }), 'value 2');
      expect(ran).toEqual(['part 1', 'last']);
    },
  },
  {
    level: 'must',
    says: 'a tool that supports resuming lists an optional resumeToken, which is a string',
    holds: async (era) => {
      const { server } = servedWith();
      const { result } = await respond(server, era, { method: 'tools/list', params: {} });
      const inputSchema = {
        properties: { resumeToken: { type: 'string' } },
        required: ['param_str', 'param_num'],
      };
      expect(result).toMatchObject({ tools: [{ inputSchema }] });
    },
  },
  {
    level: 'should',
    says: 'servers provide nextResumeToken whenever a call can be resumed',
    holds: async (era) => {
      const { server } = servedWith();
      const args = { param_str: 'part', param_num: 4 };
      let answer = await call(server, era, { arguments: args });
      for (const part of [1, 2, 3]) {
        expect(answer.result).toMatchObject({ content: [{ text: `part ${part}` }, {}] });
        answer = await resume(server, era, tokenOf(answer), args);
      }
      expectComplete(answer, 'part 4');
    },
  },
  {
    level: 'should',
    says: 'tokens are stable: the same one continues from the same place each time',
    holds: async (era) => {
      const ran: string[] = [];
      const { server } = servedWith({}, ran);
      const args = { param_str: 'part', param_num: 3 };
      const token = tokenOf(await call(server, era, { arguments: args }));
      const answers = [
        await resume(server, era, token, args),
        await resume(server, era, token, args),
      ];
      for (const answer of answers)
        expect(answer.result).toMatchObject({ content: [{ text: 'part 2' }, {}] });
      expect(ran).toEqual(['part 1', 'part 2', 'part 2']);
    },
  },
  {
    level: 'should',
    says: 'with a guard, a repeated request gets the same answer and does nothing again',
    holds: async (era) => {
      const ran: string[] = [];
      const { server } = servedWith({ store: memoryStore({ clock: testClock() }) }, ran);
      const token = tokenOf(await call(server, era));
      expectComplete(await resume(server, era, token), 'value 2');
      expectComplete(await resume(server, era, token), 'value 2');
      expect(ran).toEqual(['part 1', 'last']);
    },
  },
  {
    level: 'must',
    says: 'tokens do not expose anything internal or sensitive',
    holds: async (era) => {
      const { server } = servedWith();
      const readable = readableIn(tokenOf(await call(server, era)));
      for (const hidden of ['long_running_tool', 'value', 'param', 'part']) {
        expect(readable).not.toContain(hidden);
      }
    },
  },
  {
    level: 'must',
    says: 'servers omit nextResumeToken when the operation fails',
    holds: async (era) => {
      const { server } = served([failing]);
      const token = tokenOf(await call(server, era, { arguments: {} }));
      const failed = await resume(server, era, token, {});
      expect(failed.result).toMatchObject({ isError: true });
      expect(JSON.stringify(failed.result)).not.toContain('esumeToken');
    },
  },
  {
    level: 'must',
    says: 'servers check the parameters of a resumed call, of which only resumeToken may differ',
    holds: async (era) => {
      const ran: string[] = [];
      const { server } = servedWith({}, ran);
      const token = tokenOf(await call(server, era));
      for (const args of [
        { ...given, param_num: 3 },
        { ...given, param_str: 'another' },
        { ...given, more: true },
        { param_str: 'value' },
      ]) {
        expect(await resume(server, era, token, args)).toMatchObject(refused);
      }
      expect(ran).toEqual(['part 1']);
      expectComplete(await resume(server, era, token), 'value 2');
    },
  },
  {
    level: 'should',
    says: 'a result without nextResumeToken completes the operation',
    holds: async (era) => {
      const { server } = servedWith();
      expectComplete(await call(server, era, { arguments: { ...given, param_num: 1 } }), 'value 1');
    },
  },
  {
    level: 'must',
    says: 'tokens of completed operations are expired: a guard refuses to continue from one',
    holds: async (era) => {
      const { server } = served([asking], {
        answerers: { model: 'accept' },
        store: memoryStore({ clock: testClock() }),
      });
      const token = tokenOf(await call(server, era, { arguments: {} }));
      const answer = (action: string) =>
        resume(server, era, token, {
          answers: { sure: { action, ...(action === 'accept' ? { content: {} } : {}) } },
        });
      expectComplete(await answer('accept'), 'done');
      // A copy gets the same response.
      expectComplete(await answer('accept'), 'done');
      expect(await answer('decline')).toMatchObject({ error: { code: -32_602 } });
    },
  },
  {
    level: 'must',
    says: 'tokens are opaque: one that was changed is refused',
    holds: async (era) => {
      const { server } = servedWith();
      const token = tokenOf(await call(server, era));
      // Not an empty text: models that must fill each argument begin a call with it.
      for (const changed of [alterEnd(token), `${token}A`, token.slice(1), 'adef50']) {
        expect(await resume(server, era, changed)).toMatchObject(refused);
      }
    },
  },
  {
    level: 'should',
    says: 'a token after its time is invalid (-32602)',
    holds: async (era) => {
      const { server, clock } = servedWith({ limits: { tokenTtl: 1_000 } });
      const token = tokenOf(await call(server, era));
      clock.now += 60_000;
      expect(await resume(server, era, token)).toMatchObject(refused);
    },
  },
  {
    level: 'may',
    says: 'the next call comes much later: an eventually consistent operation says when',
    holds: async (era) => {
      const { server, clock } = served([eventual]);
      const first = await call(server, era, { arguments: {} });
      expect(first.result).toMatchObject({
        _meta: { 'io.github.mcp-saga/saga': { retryAfterMs: 3_600_000 } },
      });
      clock.now += 1_800_000;
      const early = await resume(server, era, tokenOf(first), {});
      expect(early.result).toMatchObject({
        _meta: { 'io.github.mcp-saga/saga': { retryAfterMs: 1_800_000 } },
      });
      clock.now += 1_800_000;
      expectComplete(await resume(server, era, tokenOf(early), {}), 'consistent');
    },
  },
  {
    level: 'may',
    says: 'an agent stops calling, and no part runs that nobody asked for',
    holds: async (era) => {
      const ran: string[] = [];
      const { server, clock } = servedWith({}, ran);
      tokenOf(await call(server, era));
      clock.now += 3_600_000;
      expect(ran).toEqual(['part 1']);
    },
  },
  {
    level: 'example',
    says: 'the token comes in the params of the repeated call, beside unchanged arguments',
    holds: async (era) => {
      const ran: string[] = [];
      const { server } = servedWith({}, ran);
      const token = tokenOf(await call(server, era));
      expectComplete(await call(server, era, { resumeToken: token }), 'value 2');
      expect(ran).toEqual(['part 1', 'last']);
    },
  },
  {
    level: 'must',
    says: 'a token in the params is checked as one in the arguments is, and is the only one',
    holds: async (era) => {
      const ran: string[] = [];
      const { server } = servedWith({}, ran);
      const token = tokenOf(await call(server, era));
      const another = tokenOf(await call(server, era));
      for (const more of [
        { resumeToken: alterEnd(token) },
        { resumeToken: token, arguments: { ...given, param_num: 3 } },
        { resumeToken: token, arguments: { ...given, resumeToken: another } },
        { resumeToken: token, _meta: { resumeToken: another } },
      ]) {
        expect(await call(server, era, more)).toMatchObject({ error: { code: -32_602 } });
      }
      expect(ran).toEqual(['part 1', 'part 1']);
    },
  },
  {
    level: 'should',
    says: 'servers tell how long a call can be resumed',
    holds: async (era) => {
      const { server } = servedWith();
      const { result } = await call(server, era);
      expect(JSON.stringify(result?.['_meta'])).toContain('"expiresAt":');
    },
  },
]);
