import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { accepted } from '../fixtures/rounds.ts';
import { deploys, comparedHost, proto, send, ways } from '../fixtures/ways.ts';

const polluted = { polluted: 'yes' };
let before: readonly PropertyKey[];

beforeEach(() => {
  before = Reflect.ownKeys(Object.prototype);
});

afterEach(() => {
  expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  expect(Reflect.get([], 'polluted')).toBeUndefined();
});

const honest = {
  target: accepted({ target: 'production' }),
  // A task asks again under another key.
  'target~2': accepted({ target: 'production' }),
};

const hostile: { readonly [name: string]: object } = {
  'an id __proto__': { [proto]: polluted },
  'an id constructor': { constructor: { prototype: polluted } },
  'ids of what every object has': {
    toString: accepted({}),
    valueOf: accepted({}),
    hasOwnProperty: accepted({}),
    isPrototypeOf: accepted({}),
  },
  'an id of a path': {
    'target.__proto__': accepted(polluted),
    'target[__proto__]': accepted(polluted),
  },
  'content __proto__': { target: accepted({ target: 'x', [proto]: polluted }) },
  'content for its __proto__': {
    target: { action: 'accept', [proto]: { content: { target: 'x' } } },
  },
  'an action __proto__': { target: { action: '__proto__', content: { target: 'x' } } },
  'content deeper __proto__': { target: accepted({ target: { a: [{ [proto]: polluted }] } }) },
};

describe.each(ways)('in $name', (way) => {
  test('[T9] rejects own __proto__ keys in arguments before anything runs', async () => {
    const ran: string[] = [];
    const server = comparedHost([deploys(ran)]);
    await expect(way.begin(server, { service: 'a', [proto]: polluted })).rejects.toThrow(
      '__proto__',
    );
    await expect(way.begin(server, { [proto]: { service: 'a' } })).rejects.toThrow('__proto__');
    expect(ran).toEqual([]);
    expect(server.told.errors).toEqual([]);
  });

  test.each(Object.entries(hostile))(
    '[T9] [W4] does not use answers with %s, and accepts a valid answer afterward',
    async (_, answers) => {
      const ran: string[] = [];
      const server = comparedHost([deploys(ran)]);
      const token = await way.begin(server);
      const { last } = await way.goOn(server, token, answers);
      expect([undefined, -32_602]).toContain(last.error?.code);
      expect(ran.filter((step) => step !== 'build')).toEqual([]);
      expect(server.told.errors).toEqual([]);
      const { text } = await way.goOn(server, token, honest);
      // A request that is resumed takes no answers; those of a task are used behind its answer.
      if (way.name === 'tasks') expect(ran).toEqual(['build', 'deploy production']);
      else if (way.name !== 'resumable requests') expect(text).toContain('Deployed to production');
    },
  );

  test('[T9] changes no prototype for extra members of an answer', async () => {
    const ran: string[] = [];
    const server = comparedHost([deploys(ran)]);
    const content = { target: 'production', constructor: { prototype: polluted } };
    await way.goOn(server, await way.begin(server), { target: accepted(content) });
    expect(ran).toEqual(
      way.name === 'resumable requests' ? ['build'] : ['build', 'deploy production'],
    );
  });
});

describe('in params', () => {
  test.each(['sagaToken', 'resumeToken', 'taskId'])(
    '[T9] ignores a %s inside __proto__',
    async (field) => {
      const server = comparedHost([deploys()]);
      const { result } = (await send(server, 'tools/callSaga', { name: 'deploys' })).last;
      const token = result?.['sagaToken'];
      const methods = [
        'tools/resumeSaga',
        'tools/cancelSaga',
        'requests/resume',
        'requests/getStatus',
      ];
      for (const method of methods) {
        const params = { [proto]: { [field]: token, requestId: 1 } };
        const { last } = await send(server, method, params);
        expect(last.error).toMatchObject({ code: -32_602, data: { reason: 'invalid_params' } });
      }
    },
  );

  test('[T9] rejects a step with its type in __proto__', async () => {
    const server = comparedHost([deploys()]);
    const { result } = (await send(server, 'tools/callSaga', { name: 'deploys' })).last;
    const sagaToken = result?.['sagaToken'];
    expect(sagaToken).toBeTypeOf('string');
    const steps = [
      { [proto]: { stepId: 'target', ...honest.target } },
      { stepId: 'target', [proto]: { result: honest.target } },
      { stepId: 'target', error: { [proto]: { code: 1, message: '' } } },
    ];
    for (const step of steps) {
      const { last } = await send(server, 'tools/resumeSaga', {
        sagaToken,
        completedSteps: [step],
      });
      expect(last.error).toMatchObject({ code: -32_602, data: { reason: 'invalid_params' } });
    }
  });
});
