import {
  createSagaHost,
  memoryStore,
  progress,
  saga,
  SagaError,
  sleep,
  step,
} from '@mcp-saga/server';
import { expect } from 'vitest';
import { served, type Served } from '../../packages/server/test/fixtures/calling.ts';
import { testClock } from '../../packages/server/test/fixtures/clock.ts';
import { deferred } from '../../packages/server/test/fixtures/deferred.ts';
import { oldKey } from '../../packages/server/test/fixtures/host.ts';
import type { RawMessage } from '../../packages/server/test/fixtures/raw.ts';
import { asking } from '../../packages/server/test/fixtures/sagas.ts';
import { exchange, readableIn, refusal, respond } from './exchange.ts';
import { alterEnd } from '../support/wire/tamper.ts';
import { call, capabilities, cut, id, isPolicy, policiesIn, resume, status } from './resuming.ts';
import { testStatements } from './statement.ts';

const proposal = 'Transport-agnostic resumable requests (SEP-975)';

const refused = refusal('invalid_resume_token');

/** A saga with three steps that reports progress before each. */
function working(ran: string[] = []) {
  return saga({ name: 'working', version: '1' }, function* () {
    for (const [index, name] of ['one', 'two', 'three'].entries()) {
      yield* progress(index + 1, 3);
      yield* step(name, () => void ran.push(name));
    }
    return 'done';
  });
}

const failing = saga({ name: 'failing', version: '1' }, function* () {
  yield* step('fail', () => {
    throw new SagaError('It failed');
  });
  return 'never';
});

const waiting = saga({ name: 'waiting', version: '1' }, function* () {
  yield* sleep(90_000);
  return 'waited';
});

function servedResumably(
  sagas: Parameters<typeof served>[0],
  options: Parameters<typeof served>[1] = {},
): Served {
  return served(sagas, { anonymous: { resumableRequests: 'accept' }, ...options });
}

const progressIn = (messages: readonly RawMessage[]): readonly unknown[] =>
  messages
    .filter(({ method }) => method === 'notifications/progress')
    .map(({ params }) => params?.['progress']);

const text = (said: string): object => ({ result: { content: [{ type: 'text', text: said }] } });

testStatements(proposal, [
  {
    level: 'example',
    says: 'a request is told a policy, cut, asked for its status, resumed by its ID, and answered',
    holds: async (era) => {
      const { server } = servedResumably([working()]);
      const resumeToken = await cut(server, era, 'working');
      expect(await respond(server, era, status(resumeToken))).toMatchObject({
        id: 'another',
        result: {
          requestId: id,
          status: 'processing',
          hasPendingMessage: false,
          hasInputRequest: false,
        },
      });
      const messages = await exchange(server, era, resume(resumeToken));
      expect(progressIn(messages)).toContain(3);
      expect(messages.at(-1)).toMatchObject({ id, ...text('done') });
    },
  },
  {
    level: 'may',
    says: 'only a client that declares resumableRequests is told a policy',
    holds: async (era) => {
      const { server } = servedResumably([working()]);
      const declaring = [capabilities, { experimental: capabilities }];
      for (const declared of declaring) {
        const messages = await exchange(server, era, call('working', { capabilities: declared }));
        expect(policiesIn(messages)).not.toEqual([]);
      }
      const silent = await exchange(server, era, call('working', { capabilities: {} }));
      expect(policiesIn(silent)).toEqual([]);
      expect(silent.at(-1)).toMatchObject(text('done'));
    },
  },
  {
    level: 'should',
    says: 'the server sends the policy as soon as possible: no step runs before it',
    holds: async (era) => {
      const isTold = deferred<undefined>();
      const patient = saga({ name: 'patient', version: '1' }, function* () {
        yield* step('wait', () => isTold.promise);
        return 'done';
      });
      const { server } = servedResumably([patient]);
      const messages = await exchange(server, era, call('patient'), (message) => {
        if (isPolicy(message)) isTold.resolve(undefined);
        return false;
      });
      expect(messages.at(-1)).toMatchObject(text('done'));
    },
  },
  {
    level: 'may',
    says: 'client and server disconnect at will after each policy, and the request ends all the same',
    holds: async (era) => {
      const ran: string[] = [];
      const { server } = servedResumably([working(ran)], {
        store: memoryStore({ clock: testClock() }),
      });
      let sent = call('working');
      let last: RawMessage | undefined;
      for (let count = 0; count < 10 && last?.result === undefined; count += 1) {
        const messages = await exchange(server, era, sent, isPolicy);
        last = messages.at(-1);
        const [told] = policiesIn(messages);
        if (told !== undefined) sent = resume(told['resumeToken']);
      }
      expect(last).toMatchObject({ id, ...text('done') });
    },
  },
  {
    level: 'should not',
    says: 'the server closes no stream before it has sent a response or a policy',
    holds: async (era) => {
      const { server } = servedResumably([working(), waiting]);
      for (const name of ['working', 'waiting']) {
        const messages = await exchange(server, era, call(name));
        expect(messages.some((message) => isPolicy(message) || message.id === id)).toBe(true);
      }
    },
  },
  {
    level: 'should',
    says: 'a resumed request gets what it missed, and then continues as the original one',
    holds: async (era) => {
      const { server } = servedResumably([working()]);
      const resumeToken = await cut(server, era, 'working');
      const messages = await exchange(server, era, resume(resumeToken));
      expect(progressIn(messages)).toEqual([2, 3]);
      expect(policiesIn(messages).length).toBeGreaterThan(0);
      expect(messages.at(-1)).toMatchObject({ id, ...text('done') });
    },
  },
  {
    level: 'must',
    says: 'a token that the server did not issue is answered with an error',
    holds: async (era) => {
      const { server } = servedResumably([working()]);
      const token = await cut(server, era, 'working');
      for (const wrong of [alterEnd(token), `${token}A`, 'abc', '']) {
        for (const sent of [resume(wrong), status(wrong)]) {
          expect(await respond(server, era, sent)).toMatchObject(refused);
        }
      }
    },
  },
  {
    level: 'must',
    says: 'the token is sensitive: nothing of the request can be read in it',
    holds: async (era) => {
      const { server } = servedResumably([working()]);
      const readable = readableIn(await cut(server, era, 'working'));
      for (const hidden of ['working', 'one', String(id), 'resum'])
        expect(readable).not.toContain(hidden);
    },
  },
  {
    level: 'should',
    says: 'minWait tells in seconds when there is something to come for',
    holds: async (era) => {
      const { server, clock } = servedResumably([waiting]);
      const [told] = policiesIn(await exchange(server, era, call('waiting')));
      expect(told).toMatchObject({ minWait: 90 });
      clock.now += 90_000;
      expect(await respond(server, era, resume(told?.['resumeToken']))).toMatchObject(
        text('waited'),
      );
    },
  },
  {
    level: 'may',
    says: 'maxWait tells in seconds how long the request can be resumed, and not after that',
    holds: async (era) => {
      const { server, clock } = servedResumably([working()]);
      const [told] = policiesIn(await exchange(server, era, call('working'), isPolicy));
      const { resumeToken, maxWait } = told as {
        readonly resumeToken: string;
        readonly maxWait: number;
      };
      expect(maxWait).toBe(3_600);
      clock.now += maxWait * 1_000 - 1;
      expect(await respond(server, era, status(resumeToken))).toHaveProperty('result');
      // Clocks of two servers may differ by up to 30 seconds.
      clock.now += 31_000;
      expect(await respond(server, era, status(resumeToken))).toMatchObject(refused);
      expect(await respond(server, era, resume(resumeToken))).toMatchObject(refused);
    },
  },
  {
    level: 'should',
    says: 'resuming starts the time anew, and asking for the status does not shorten it',
    holds: async (era) => {
      const { server, clock } = servedResumably([working()]);
      const token = await cut(server, era, 'working');
      clock.now += 3_000_000;
      expect(await respond(server, era, status(token))).toHaveProperty('result');
      const [told] = policiesIn(await exchange(server, era, resume(token), isPolicy));
      expect(told).toMatchObject({ maxWait: 3_600 });
      clock.now += 3_000_000;
      expect(await respond(server, era, resume(told?.['resumeToken']))).toMatchObject(text('done'));
    },
  },
  {
    level: 'should',
    says: 'a request that was cancelled is answered with an error',
    holds: async (era) => {
      const guard = memoryStore({ clock: testClock() });
      const guarded = saga({ name: 'guarded', version: '1' }, function* () {
        yield* sleep(90_000);
        return 'waited';
      });
      const { server, clock } = servedResumably([guarded], { store: guard });
      // After the last token, no step of the call is left to run.
      const token = policiesIn(await exchange(server, era, call('guarded'))).at(-1)?.[
        'resumeToken'
      ];
      const host = createSagaHost({
        sagas: [guarded],
        keys: oldKey,
        name: 'test',
        store: guard,
        testing: { clock },
      });
      await host.cancel(String(token));
      expect(await respond(server, era, resume(token))).toMatchObject(refused);
    },
  },
  {
    level: 'must',
    says: 'a request that fails is answered as the original one would have been',
    holds: async (era) => {
      const { server } = servedResumably([failing]);
      const token = await cut(server, era, 'failing');
      expect(await respond(server, era, resume(token))).toMatchObject({
        id,
        result: { isError: true, content: [{ text: 'It failed' }] },
      });
    },
  },
  {
    level: 'must',
    says: 'the status says whether the request waits for its client, and runs nothing',
    holds: async (era) => {
      const { server, told } = servedResumably([asking(), working()], {
        answerers: { model: 'accept' },
      });
      const asked = await cut(server, era, 'asking');
      const busy = await cut(server, era, 'working');
      told.steps.length = 0;
      const answers = [
        await respond(server, era, status(asked)),
        await respond(server, era, status(busy)),
      ];
      expect(answers).toMatchObject([
        { result: { requestId: id, status: 'processing', hasInputRequest: true } },
        { result: { requestId: id, status: 'processing', hasInputRequest: false } },
      ]);
      expect(told.steps).toEqual([]);
    },
  },
  {
    level: 'must',
    says: 'string IDs and numbers are IDs of requests, and come back as they are',
    holds: async (era) => {
      const { server } = servedResumably([working()]);
      for (const requestId of ['a-request', 7]) {
        const token = await cut(server, era, 'working', { id: requestId });
        expect(await respond(server, era, status(token, requestId))).toMatchObject({
          result: { requestId },
        });
        expect(await respond(server, era, resume(token, { id: requestId }))).toMatchObject({
          id: requestId,
        });
      }
    },
  },
  {
    level: 'must',
    says: 'the ID of requests/resume is that of the original request: another one is refused',
    holds: async (era) => {
      const { server } = servedResumably([working()]);
      const token = await cut(server, era, 'working');
      expect(await respond(server, era, resume(token, { id: 124 }))).toMatchObject({
        error: { code: -32_602 },
      });
      expect(await respond(server, era, resume(token, { id: '123' }))).toMatchObject({
        error: { code: -32_602 },
      });
      expect(await respond(server, era, resume(token))).toMatchObject({ id, ...text('done') });
    },
  },
]);
