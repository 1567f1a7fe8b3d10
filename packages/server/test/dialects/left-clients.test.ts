import {
  checkpoint,
  continueAs,
  elicit,
  memoryStore,
  pivot,
  promptSaga,
  saga,
  sleep,
  step,
  type Program,
} from '@mcp-saga/server';
import type { TestingOptions } from '@mcp-saga/server/internal';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { answerBy } from '../fixtures/answer-by.ts';
import { testClock } from '../fixtures/clock.ts';
import { connections, type Connected } from '../fixtures/connections.ts';
import { deferred, type Deferred } from '../fixtures/deferred.ts';
import { hooksInto, hostOf, nothingTold } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import { recordingQueue, type Sent } from '../queue/queued.ts';

const inSessions = connections.filter(({ name }) => name.includes('in memory'));
const never = (): Promise<never> => deferred<never>().promise;

interface Calls {
  callTool(call: object, ...more: readonly unknown[]): Promise<unknown>;
}

/** Calls a tool with a client of either version, and resolves with its error. */
function calling(
  { client }: Connected,
  name: string,
  options: object,
  args: { readonly [name: string]: unknown } = {},
): Promise<unknown> {
  const more = 'getProtocolEra' in client ? [options] : [undefined, options];
  return (client as unknown as Calls)
    .callTool({ name, arguments: args }, ...more)
    .catch((error: unknown) => error);
}

/** Records effects and undos. */
class World {
  readonly log: string[] = [];
  readonly undone: Deferred<undefined> = deferred<undefined>();

  do(what: string): string {
    this.log.push(what);
    return what;
  }

  readonly undo = (): void => {
    this.log.push('released');
    this.undone.resolve(undefined);
  };
}

/** Waits until an abort. */
function untilAborted(begun: Deferred<undefined>): NonNullable<TestingOptions['sleep']> {
  return (_, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
      begun.resolve(undefined);
    });
}

/** Holds something, asks, and ships it. */
function holding(world: World, reuse?: 'ok'): Program {
  return saga({ name: 'holding', version: '1', reuse }, function* () {
    yield* step('hold', () => world.do('held'), { compensate: world.undo });
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* step('ship', () => world.do('shipped'));
    return 'shipped';
  });
}

const ways: Readonly<Record<string, (left: AbortController, connected: Connected) => unknown>> = {
  aborts: (left) => left.abort(),
  closes: (_, { close }) => close(),
  // By the timeout of the call.
  'times out': () => vi.advanceTimersByTimeAsync(50),
};

describe.each(inSessions)('a client that abandons its call, $name', ({ connect }) => {
  test.each(Object.entries(ways))('[E3] has its saga undone when it %s', async (way, leave) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    for (const reuse of ['ok', undefined] as const) {
      const world = new World();
      const clock = testClock(Date.now());
      const store = memoryStore({ clock });
      const made = hostOf(holding(world, reuse), { clock, store });
      const connection = await connect(made.host);
      const asked = deferred<undefined>();
      answerBy(connection.client, {
        elicit: async () => {
          asked.resolve(undefined);
          return await never();
        },
      });
      const left = new AbortController();
      const options = way === 'times out' ? { timeout: 50 } : { signal: left.signal };
      const call = calling(connection, 'holding', options);
      await asked.promise;
      await leave(left, connection);
      expect(await call).toBeInstanceOf(Error);
      await world.undone.promise;
      expect(world.log).toEqual(['held', 'released']);
      await connection.close();
    }
  });

  test.each(['first', 'second'])('[E3] has a running step undone in its %s turn', async (turn) => {
    const world = new World();
    const charging = deferred<undefined>();
    const charged = deferred<string>();
    const paying = saga({ name: 'paying', version: '1', reuse: 'ok' }, function* () {
      if (turn === 'second') yield* elicit('sure', { message: 'Sure?', schema: Empty });
      yield* step(
        'charge',
        () => {
          charging.resolve(undefined);
          return charged.promise;
        },
        { compensate: world.undo },
      );
      yield* step('ship', () => world.do('shipped'));
      return 'shipped';
    });
    const connection = await connect(hostOf(paying).host);
    answerBy(connection.client, { elicit: () => ({ action: 'accept', content: {} }) });
    // A client of version 1 takes no abort of its first request back.
    await connection.client.listTools();
    const left = new AbortController();
    const call = calling(connection, 'paying', { signal: left.signal });
    await charging.promise;
    left.abort();
    expect(await call).toBeInstanceOf(Error);
    // The abort reaches the server before the charge ends.
    await connection.client.listTools();
    charged.resolve(world.do('charged'));
    await world.undone.promise;
    expect(world.log).toEqual(['charged', 'released']);
    await connection.close();
  });

  test('[E3] ends a wait within its call, and runs no later step', async () => {
    const world = new World();
    const waits = deferred<undefined>();
    const waiting = saga({ name: 'waiting', version: '1', reuse: 'ok' }, function* () {
      yield* step('hold', () => world.do('held'), { compensate: world.undo });
      yield* sleep(15_000);
      yield* step('ship', () => world.do('shipped'));
      return 'shipped';
    });
    const connection = await connect(
      hostOf(waiting, { testing: { sleep: untilAborted(waits) } }).host,
    );
    const left = new AbortController();
    const call = calling(connection, 'waiting', { signal: left.signal });
    await waits.promise;
    left.abort();
    await call;
    await world.undone.promise;
    expect(world.log).toEqual(['held', 'released']);
    await connection.close();
  });

  test('[E3] has the saga undone that its call continued as', async () => {
    const world = new World();
    const clock = testClock(Date.now());
    const held = holding(world);
    const calls = saga({ name: 'calls', version: '1' }, function* () {
      yield* elicit('which', { message: 'Which?', schema: Empty });
      return yield* continueAs(held, {});
    });
    const made = hostOf([calls, held], { clock, store: memoryStore({ clock }) });
    const connection = await connect(made.host);
    const left = new AbortController();
    answerBy(connection.client, {
      elicit: ({ message }) => {
        if (message === 'Sure?') left.abort();
        return message === 'Sure?' ? never() : { action: 'accept', content: {} };
      },
    });
    expect(await calling(connection, 'calls', { signal: left.signal })).toBeInstanceOf(Error);
    await world.undone.promise;
    expect(world.log).toEqual(['held', 'released']);
    await connection.close();
  });

  test('[E3] [T13] has a saga undone that a repeated resume token cannot reach', async () => {
    const world = new World();
    const clock = testClock(Date.now());
    const paging = saga({ name: 'paging', version: '1' }, function* () {
      yield* checkpoint('a page');
      yield* step('hold', () => world.do('held'), { compensate: world.undo });
      yield* elicit('which', { message: 'Which?', schema: Empty });
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      return 'done';
    });
    const connection = await connect(hostOf(paging, { clock, store: memoryStore({ clock }) }).host);
    const { nextResumeToken: resumeToken } = (await calling(connection, 'paging', {})) as {
      readonly nextResumeToken: string;
    };
    for (const leavesAt of ['Which?', 'Sure?']) {
      const left = new AbortController();
      answerBy(connection.client, {
        elicit: ({ message }) => {
          if (message === leavesAt) left.abort();
          return message === leavesAt ? never() : { action: 'accept', content: {} };
        },
      });
      const called = await calling(connection, 'paging', { signal: left.signal }, { resumeToken });
      expect(called).toBeInstanceOf(Error);
      // The token of the call still gives the question that the first call left.
      if (leavesAt === 'Which?') expect(world.log).toEqual(['held']);
    }
    await world.undone.promise;
    expect(world.log).toEqual(['held', 'released']);
    await connection.close();
  });

  test('[E3] has its saga undone if it disconnects while its resume token is stored', async () => {
    const world = new World();
    const left = new AbortController();
    const store = memoryStore();
    const writing = deferred<undefined>();
    const written = deferred<undefined>();
    const slow = {
      ...store,
      write: async (...entry: Parameters<typeof store.write>) => {
        writing.resolve(undefined);
        await written.promise;
        return await store.write(...entry);
      },
    };
    const paging = saga({ name: 'paging', version: '1', reuse: 'ok' }, function* () {
      yield* step('hold', () => world.do('held'), { compensate: world.undo });
      yield* checkpoint('a page');
      return 'done';
    });
    const connection = await connect(hostOf(paging, { store: slow }).host);
    await connection.client.listTools();
    const call = calling(connection, 'paging', { signal: left.signal });
    await writing.promise;
    left.abort();
    await call;
    await connection.client.listTools();
    written.resolve(undefined);
    await world.undone.promise;
    expect(world.log).toEqual(['held', 'released']);
    await connection.close();
  });

  test.each([
    ['is undone at once, though', false],
    ['is left to the queue past its pivot, if', true],
  ])('[E3] [E8] has a saga that %s the operator has a queue', async (_, hasPivot) => {
    const world = new World();
    const clock = testClock(Date.now());
    const queue = recordingQueue();
    const settled = deferred<undefined>();
    const hooks = { ...hooksInto(nothingTold()), onSettled: () => settled.resolve(undefined) };
    const paying = saga({ name: 'holding', version: '1' }, function* () {
      yield* step('hold', () => world.do('held'), { compensate: world.undo });
      if (hasPivot) yield* pivot('paid');
      yield* elicit('sure', { message: 'Sure?', schema: Empty, fallback: {} });
      yield* step('ship', () => world.do('shipped'));
      return 'shipped';
    });
    const { host } = hostOf(paying, { clock, store: memoryStore({ clock }), queue, hooks });
    const connection = await connect(host);
    const asked = deferred<undefined>();
    answerBy(connection.client, {
      elicit: async () => {
        asked.resolve(undefined);
        return await never();
      },
    });
    const left = new AbortController();
    const call = calling(connection, 'holding', { signal: left.signal });
    await asked.promise;
    left.abort();
    await call;
    // The abort has reached the server.
    await connection.client.listTools();
    if (!hasPivot) await settled.promise;
    const end = hasPivot ? ['held'] : ['held', 'released'];
    expect(world.log).toEqual(end);
    const { message, at } = queue.sent.at(-1) as Sent;
    clock.now = at;
    expect(await host.deliver(message)).toMatchObject({ status: 'ended' });
    await settled.promise;
    expect(world.log).toEqual(end);
    await connection.close();
  });

  test.each([[[41_000, 39_000]], [[34_000, 19_000]], [Array<number>(20).fill(5_000)]])(
    '[W6] gets its response within the 60 s that SDK clients wait: %j',
    async (waits) => {
      const slow = saga({ name: 'slow', version: '1' }, function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Empty });
        for (const ms of waits) yield* sleep(ms);
        return 'slept twice';
      });
      const clock = testClock();
      const wait = async (ms: number): Promise<void> => void (clock.now += ms);
      const connection = await connect(
        hostOf(slow, { clock, testing: { sleep: wait }, limits: { tokenTtl: 3_600_000 } }).host,
      );
      answerBy(connection.client, {
        elicit: () => {
          // The user thinks about it.
          clock.now += 20_000;
          return { action: 'accept', content: {} };
        },
      });
      let args = {};
      for (;;) {
        const began = clock.now;
        const called = await connection.client.callTool({ name: 'slow', arguments: args });
        expect(clock.now - began).toBeLessThan(60_000);
        const { nextResumeToken: resumeToken } = called as { readonly nextResumeToken?: string };
        if (resumeToken === undefined) {
          expect(called).toMatchObject({ content: [{ text: 'slept twice' }] });
          break;
        }
        args = { resumeToken };
      }
      await connection.close();
    },
  );
});

test('[E3] a prompt that is abandoned during a wait is undone', async () => {
  const world = new World();
  const waits = deferred<undefined>();
  const greeting = promptSaga({ name: 'greeting', version: '1', reuse: 'ok' }, function* () {
    yield* step('hold', () => world.do('held'), { compensate: world.undo });
    yield* sleep(15_000);
    return 'hello';
  });
  const [{ connect }] = inSessions as [(typeof inSessions)[number]];
  const connection = await connect(
    hostOf(greeting, { testing: { sleep: untilAborted(waits) } }).host,
    {
      capabilities: {},
    },
  );
  const left = new AbortController();
  const { client } = connection as unknown as {
    readonly client: { getPrompt(params: object, options: object): Promise<unknown> };
  };
  const got = client
    .getPrompt({ name: 'greeting' }, { signal: left.signal })
    .catch((error: unknown) => error);
  await waits.promise;
  left.abort();
  await got;
  await world.undone.promise;
  expect(world.log).toEqual(['held', 'released']);
  await connection.close();
});
