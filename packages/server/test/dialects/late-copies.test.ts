import { all, elicit, memoryStore, saga, sleep, step } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { testClock } from '../fixtures/clock.ts';
import type { TestHost } from '../fixtures/host.ts';
import type { RawAnswer } from '../fixtures/raw.ts';
import { knowsTasks } from '../fixtures/task-client.ts';
import { comparedHost, send, ways, type Way } from '../fixtures/ways.ts';

const hour = 3_600_000;

/** How a client of a dialect begins, asks again without answers, and answers. */
interface Client {
  readonly name: string;
  readonly refused: object;
  readonly begin: (host: TestHost) => Promise<string>;
  readonly poll: (host: TestHost, token: string) => Promise<RawAnswer>;
  readonly answer: (host: TestHost, token: string, answers: object) => Promise<RawAnswer>;
}

function wayOf(name: string): Way {
  const way = ways.find((each) => each.name === name);
  if (way === undefined) throw new Error(`There is no way '${name}'.`);
  return way;
}

const rounds = wayOf('multi round-trip');

function clientBy(name: string, answers: Way = wayOf(name)): Client {
  const way = wayOf(name);
  return {
    name,
    refused: answers.refused,
    begin: (host) => way.begin(host),
    poll: (host, token) => way.goOn(host, token, {}),
    answer: (host, token, given) => answers.goOn(host, token, given),
  };
}

const clients: readonly Client[] = [
  clientBy('saga methods'),
  clientBy('multi round-trip'),
  clientBy('resume token'),
  // A resumed request has no answers: the repeated call has them.
  clientBy('resumable requests', rounds),
  {
    // The call asks its questions in rounds before it becomes a task.
    name: 'tasks',
    refused: rounds.refused,
    begin: async (host) => {
      const { last } = await send(
        host,
        'tools/call',
        { name: 'deploys', arguments: {} },
        { capabilities: knowsTasks },
      );
      return last.result?.['requestState'] as string;
    },
    poll: (host, token) => rounds.goOn(host, token, {}, { capabilities: knowsTasks }),
    answer: (host, token, given) => rounds.goOn(host, token, given, { capabilities: knowsTasks }),
  },
];

const to = (target: string): object => ({ target: { action: 'accept', content: { target } } });

describe.each(clients)('a client of $name', ({ begin, poll, answer, refused }) => {
  function setUp() {
    const did: string[] = [];
    const deploys = saga({ name: 'deploys', version: '1', task: 'prefer' }, function* () {
      const { where } = yield* all({
        where: elicit('target', { message: 'Where?', schema: z.object({ target: z.string() }) }),
        later: (function* () {
          yield* sleep(hour);
          yield* step('ship', () => void did.push('ship'), {
            compensate: () => void did.push('undo'),
          });
        })(),
      });
      return `Deployed to ${where.target}`;
    });
    const clock = testClock();
    const host = comparedHost([deploys], {
      clock,
      store: memoryStore({ clock }),
      limits: { maxHold: 0, tokenTtl: 10 * hour },
    });
    return { host, clock, did };
  }

  it('[E1] [W4] answers the newest turn after a late copy of its poll has moved the saga on', async () => {
    const { host, clock, did } = setUp();
    const token = await begin(host);
    clock.now += hour;
    await poll(host, token);
    const { last } = await answer(host, token, to('production'));
    expect(last.error).toBeUndefined();
    expect(JSON.stringify(last.result)).toContain('Deployed to production');
    // Another decision is a fork.
    expect((await answer(host, token, to('staging'))).last.error).toEqual(refused);
    expect(did).toEqual(['ship']);
  });
});
