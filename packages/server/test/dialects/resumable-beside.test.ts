import {
  elicit,
  memoryStore,
  progress,
  saga,
  step,
  type Program,
  type SagaHost,
} from '@mcp-saga/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { deferred, type Deferred } from '../fixtures/deferred.ts';
import { policy } from '../fixtures/five.ts';
import { hostOf } from '../fixtures/host.ts';
import type { RawMessage } from '../fixtures/raw.ts';
import { Empty } from '../fixtures/sagas.ts';
import { eventsOf, openRawSession, until } from '../fixtures/raw-session.ts';
import { listenForSessions, sessionServers } from '../fixtures/session-servers.ts';
import { overStdio, stdioVersions, type StdioLines } from '../fixtures/stdio-lines.ts';

const capabilities = { resumableRequests: {}, elicitation: {} };

/** A saga with three steps, of which the second one waits. */
class Work {
  readonly ran: string[] = [];
  readonly begun: Deferred<undefined> = deferred();
  readonly goOn: Deferred<undefined> = deferred();

  saga(reuse: 'ok' | undefined): Program {
    const run = (name: string) =>
      step(name, async () => {
        this.ran.push(name);
        if (name !== 'two') return;
        this.begun.resolve(undefined);
        await this.goOn.promise;
      });
    return saga({ name: 'work', version: '1', reuse }, function* () {
      for (const [index, name] of ['one', 'two', 'three'].entries()) {
        yield* progress(index + 1, 3);
        yield* run(name);
      }
      return 'worked';
    });
  }
}

function hostFor(program: Program): SagaHost {
  const { host } = hostOf(program, {
    clock: Object.assign(() => Date.now(), { now: 0 }),
    store: memoryStore(),
    anonymous: { resumableRequests: 'accept' },
  });
  return host;
}

const isTold = ({ method }: RawMessage): boolean => method === policy;
const call = (id: number, progressToken: string, name = 'work'): object => ({
  id,
  method: 'tools/call',
  params: { name, arguments: {}, _meta: { progressToken } },
});
const resume = (id: number, progressToken: string, resumeToken: unknown): object => ({
  id,
  method: 'requests/resume',
  params: { resumeToken, _meta: { progressToken } },
});
const progressIn = ({ came }: StdioLines): readonly Readonly<Record<string, unknown>>[] =>
  came.filter(({ method }) => method === 'notifications/progress').map(({ params = {} }) => params);

const newestTold = ({ came }: StdioLines): unknown =>
  came.findLast(isTold)?.params?.['resumeToken'];

describe.each(stdioVersions)(
  'a request that is resumed over stdio while it runs, %s',
  (version) => {
    test.each(['ok', undefined] as const)(
      '[W5] [W7] runs each step once, and reports its progress once: reuse %s',
      async (reuse) => {
        const work = new Work();
        const lines = await overStdio(hostFor(work.saga(reuse)), version, capabilities);
        lines.send(call(1, 'first'));
        await work.begun.promise;
        const oldest = lines.came.find(isTold)?.params?.['resumeToken'];
        for (const token of [oldest, newestTold(lines)]) lines.send(resume(1, 'again', token));
        // A request that is answered behind the others has let them be read.
        lines.send({ id: 'ping', method: 'ping' });
        await lines.first(({ id }) => id === 'ping');
        work.goOn.resolve(undefined);
        const answers = (): readonly RawMessage[] => lines.came.filter(({ id }) => id === 1);
        await expect.poll(() => answers().length).toBe(3);
        for (const { result } of answers())
          expect(result).toMatchObject({ content: [{ text: 'worked' }] });
        expect(work.ran).toEqual(['one', 'two', 'three']);
        const reported = progressIn(lines);
        expect(new Set(reported.map(({ progressToken }) => progressToken))).toEqual(
          new Set(['first']),
        );
        const values = reported.map(({ progress: value }) => Number(value));
        expect(values).toEqual([...new Set(values)].toSorted((one, other) => one - other));
        lines.end();
      },
    );

    test('[W1] asks its question once, and gets one answer', async () => {
      const asks = saga({ name: 'work', version: '1', reuse: 'ok' }, function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Empty });
        return 'sure';
      });
      const lines = await overStdio(hostFor(asks), version, capabilities);
      const isAsked = ({ method }: RawMessage): boolean => method === 'elicitation/create';
      lines.send(call(1, 'first'));
      const { id } = await lines.first(isAsked);
      lines.send(resume(1, 'again', newestTold(lines)));
      lines.send({ id: 'ping', method: 'ping' });
      await lines.first((message) => message.id === 'ping');
      lines.send({ id, result: { action: 'accept', content: {} } });
      const answers = (): readonly RawMessage[] =>
        lines.came.filter((message) => message.id === 1 && message.method === undefined);
      await expect.poll(() => answers().length).toBe(2);
      for (const { result } of answers())
        expect(result).toMatchObject({ content: [{ text: 'sure' }] });
      expect(lines.came.filter(isAsked)).toHaveLength(1);
      lines.end();
    });
  },
);

describe.each(sessionServers)(
  'a request that is resumed after its connection was cut, $name',
  (server) => {
    async function cutAt(
      program: Program,
      isEnough: (message: RawMessage) => boolean | Promise<boolean>,
    ) {
      const listening = await listenForSessions(server, hostFor(program));
      onTestFinished(() => listening.close());
      const session = await openRawSession(listening.url, capabilities);
      const cut = new AbortController();
      const events = eventsOf(await session.post(call(1, 'first'), cut.signal));
      let token: unknown;
      for (;;) {
        const { message } = await until(events, () => true);
        if (isTold(message)) token = message.params?.['resumeToken'];
        if (token !== undefined && (await isEnough(message))) break;
      }
      cut.abort();
      await listening.isCut;
      return { session, token };
    }

    test.each(['ok', undefined] as const)(
      '[E1] [W7] gets the result of the running request: reuse %s',
      async (reuse) => {
        const work = new Work();
        const { session, token } = await cutAt(work.saga(reuse), async () => {
          await work.begun.promise;
          return true;
        });
        const resumed = session.post(resume(1, 'again', token));
        // The server has read both: it takes requests in their order.
        await session.post({ id: 2, method: 'ping' });
        work.goOn.resolve(undefined);
        const { message } = await until(eventsOf(await resumed), (event) => event.message.id === 1);
        expect(message.result).toMatchObject({ content: [{ text: 'worked' }] });
        expect(work.ran).toEqual(['one', 'two', 'three']);
      },
    );

    test('[E1] [W1] [W7] is asked the question in another session, though nothing tells that the first is cut', async () => {
      const ran: string[] = [];
      const asks = saga({ name: 'work', version: '1' }, function* () {
        yield* step('one', () => void ran.push('one'));
        yield* elicit('sure', { message: 'Sure?', schema: Empty });
        return 'sure';
      });
      const listening = await listenForSessions(server, hostFor(asks));
      onTestFinished(() => listening.close());
      const isAsked = ({ method }: RawMessage): boolean => method === 'elicitation/create';
      const near = await openRawSession(listening.url, capabilities);
      const nearEvents = eventsOf(await near.post(call(1, 'first')));
      let token: unknown;
      await until(nearEvents, ({ message }) => {
        if (isTold(message)) token = message.params?.['resumeToken'];
        return isAsked(message);
      });
      const far = await openRawSession(listening.url, capabilities);
      const events = eventsOf(await far.post(resume(1, 'again', token)));
      const { message: question } = await until(events, ({ message }) => isAsked(message));
      await far.post({ id: question.id, result: { action: 'accept', content: {} } });
      for (const each of [events, nearEvents]) {
        const { message } = await until(each, (event) => event.message.id === 1);
        expect(message.result).toMatchObject({ content: [{ text: 'sure' }] });
      }
      expect(ran).toEqual(['one']);
    });

    test('[E1] [W1] [W7] is asked the question of the cut request, which runs nothing again', async () => {
      const ran: string[] = [];
      const asks = saga({ name: 'work', version: '1' }, function* () {
        yield* step('one', () => void ran.push('one'));
        yield* elicit('sure', { message: 'Sure?', schema: Empty });
        return 'sure';
      });
      const isAsked = ({ method }: RawMessage): boolean => method === 'elicitation/create';
      const { session, token } = await cutAt(asks, isAsked);
      const events = eventsOf(await session.post(resume(1, 'again', token)));
      const question = await until(events, ({ message }) => isAsked(message));
      const { id } = question.message;
      await session.post({ id, result: { action: 'accept', content: {} } });
      const { message } = await until(events, (event) => event.message.id === 1);
      expect(message.result).toMatchObject({ content: [{ text: 'sure' }] });
      expect(ran).toEqual(['one']);
    });
  },
);
