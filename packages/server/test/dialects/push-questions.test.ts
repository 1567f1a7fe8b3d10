import { all, elicit, saga, sleep, step, type StepError } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { answerBy, type Answers } from '../fixtures/answer-by.ts';
import { testClock } from '../fixtures/clock.ts';
import { connections, type Connected } from '../fixtures/connections.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hostOf } from '../fixtures/host.ts';
import { asking, Target } from '../fixtures/sagas.ts';

const inSessions = connections.filter(({ name }) => name.includes('in memory'));
// A client of version 1 takes no cancellation of the very first request, whose id is 0.
const first = { action: 'accept', content: { target: 'first' } };
const day = 24 * 60 * 60 * 1000;

interface Calls {
  callTool(call: object, ...more: readonly unknown[]): Promise<unknown>;
}

describe.each(inSessions)('questions that are pushed, $name', ({ connect }) => {
  async function connected(
    sagas: Parameters<typeof hostOf>[0],
    answers: Answers,
    options: Parameters<typeof hostOf>[1] = {},
  ): Promise<Connected> {
    const clock = Object.assign(() => Date.now(), { now: 0 });
    const connection = await connect(hostOf(sagas, { clock, ...options }).host);
    answerBy(connection.client, answers);
    return connection;
  }

  test('[W6] a saga continues after the deadline of a question, and other questions stay open', async () => {
    const noted = deferred<undefined>();
    const hurrying = saga({ name: 'hurrying', version: '1' }, function* () {
      yield* elicit('first', { message: 'First?', schema: Target });
      const { hurried, patient } = yield* all({
        hurried: (function* () {
          try {
            yield* elicit('hurried', { message: 'Quick!', schema: Target, timeout: 20 });
            return 'in time';
          } catch (error) {
            yield* step('note', () => noted.resolve(undefined));
            return (error as Error).name;
          }
        })(),
        patient: elicit('patient', { message: 'Where?', schema: Target }),
      });
      yield* sleep(1);
      return `${hurried} ${patient.target}`;
    });
    const asked: string[] = [];
    const withdrawn = deferred<undefined>();
    const clock = testClock();
    const pass = async (ms: number): Promise<void> => void (clock.now += ms);
    const answers: Answers = {
      elicit: async ({ message }, signal) => {
        asked.push(message);
        if (message === 'First?') return first;
        if (message === 'Quick!') {
          await pass(20);
          signal.addEventListener('abort', () => withdrawn.resolve(undefined));
          return await deferred<never>().promise;
        }
        await noted.promise;
        return { action: 'accept', content: { target: 'here' } };
      },
    };
    const connection = await connected(hurrying, answers, { clock, testing: { sleep: pass } });
    const { client } = connection;
    expect(
      await (client as unknown as Calls).callTool({ name: 'hurrying', arguments: {} }),
    ).toMatchObject({
      content: [{ text: 'StepTimedOut here' }],
    });
    await withdrawn.promise;
    expect(asked).toEqual(['First?', 'Quick!', 'Where?']);
    await connection.close();
  });

  test('[U4] a question is withdrawn when its call is cancelled', async () => {
    const asked = deferred<AbortSignal>();
    const twice = saga({ name: 'twice', version: '1' }, function* () {
      yield* elicit('first', { message: 'First?', schema: Target });
      yield* elicit('second', { message: 'Second?', schema: Target });
      return 'answered';
    });
    const connection = await connected(twice, {
      elicit: async ({ message }, signal) => {
        if (message === 'First?') return first;
        asked.resolve(signal);
        return await deferred<never>().promise;
      },
    });
    const { client } = connection;
    const cancelled = new AbortController();
    const options = { signal: cancelled.signal };
    const isVersion2 = 'getProtocolEra' in client;
    const called = (client as unknown as Calls)
      .callTool(
        { name: 'twice', arguments: {} },
        ...(isVersion2 ? [options] : [undefined, options]),
      )
      .catch((error: unknown) => error);
    const question = await asked.promise;
    const isWithdrawn = new Promise((resolve) => {
      question.addEventListener('abort', resolve);
    });
    cancelled.abort();
    expect(await called).toBeInstanceOf(Error);
    await isWithdrawn;
    expect(question.aborted).toBe(true);
    await connection.close();
  });

  test('[T6] a question stays open if the token is valid for longer than the longest timer', async () => {
    const connection = await connected(
      asking(),
      {
        elicit: async () => {
          // Longer than a timer that was set to more than it can wait.
          await new Promise((resolve) => {
            setTimeout(resolve, 20);
          });
          return { action: 'accept', content: { target: 'here' } };
        },
      },
      { limits: { tokenTtl: 40 * day, maxLifetime: 40 * day } },
    );
    const { client } = connection;
    expect(
      await (client as unknown as Calls).callTool({ name: 'asking', arguments: {} }),
    ).not.toHaveProperty('isError');
    await connection.close();
  });

  test('[W4] asks again for an answer that cannot be stored, and accepts such a failure', async () => {
    const failing = saga({ name: 'failing', version: '1' }, function* () {
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      try {
        yield* elicit('fail', { message: 'Fail!', schema: Target });
        return 'never';
      } catch (error) {
        return `${target} ${String((error as StepError).code)}`;
      }
    });
    const messages: string[] = [];
    const connection = await connected(failing, {
      elicit: ({ message }) => {
        messages.push(message);
        if (message === 'Fail!') throw Object.assign(new Error('\ud800'), { code: -32_000 - 123 });
        return { action: 'accept', content: { target: messages.length === 1 ? '\ud800' : 'here' } };
      },
    });
    const { client } = connection;
    expect(
      await (client as unknown as Calls).callTool({ name: 'failing', arguments: {} }),
    ).toMatchObject({
      content: [{ text: 'here -32123' }],
    });
    expect(messages).toEqual(['Where?', expect.stringContaining('Where?\n\n(result: '), 'Fail!']);
    await connection.close();
  });
});
