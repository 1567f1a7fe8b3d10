import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  step,
  type Program,
  type SagaHostOptions,
  type SagaStore,
} from '@mcp-saga/server';
import { serve } from 'srvx';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { taskClient } from '../../packages/server/test/fixtures/task-client.ts';
import { rawClients } from './raw-clients.ts';
import { sdkClients } from './sdk-clients.ts';
import { serveEveryWay } from './serve-every-way.ts';
import type { World } from './world.ts';
import { askingModels } from '../support/asking-models.ts';

const Where = z.object({ target: z.string() });

/** Requests to the store, by method. */
const requests = new Map<string, number>();

/** A store whose requests are counted. Its properties are no requests. */
function counted(store: SagaStore): SagaStore {
  return new Proxy(store, {
    get: (target, property) => {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function' || property === 'remembersSince') return member;
      return (...values: readonly unknown[]): unknown => {
        const method = String(property);
        requests.set(method, (requests.get(method) ?? 0) + 1);
        return member.apply(target, values) as unknown;
      };
    },
  });
}

/** Asks, acts, asks again, and acts: two turns after the first one. */
function orderWith(task?: 'prefer'): Program {
  return saga(
    { name: 'order', version: '1', ...(task && { task }), input: z.object({}) },
    function* () {
      const { target } = yield* elicit('step-first', { message: 'Where?', schema: Where });
      yield* step('reserve', () => target);
      yield* elicit('step-second', { message: 'Sure?', schema: Where });
      yield* step('pay', () => target);
      return `Sent to ${target}.`;
    },
  );
}

function optionsWith(task?: 'prefer'): SagaHostOptions {
  return {
    sagas: askingModels([orderWith(task)]),
    keys: generateKey(),
    name: 'matrix',
    store: counted(memoryStore({ olderTokens: 'accept' })),
    // A short token is one write more.
    shortTokens: false,
    answerers: { model: 'accept' },
    anonymous: { tasks: 'accept', resumableRequests: 'accept' },
    hooks: { onTurn: () => undefined },
    testing: { environment: 'test' },
  };
}

/** Requests for a saga with two turns after the first. A turn writes twice, whatever the client. */
const expected: readonly (readonly [name: RegExp, requests: object])[] = [
  // A client of resumable requests gets a token after each step: two turns more.
  [/^resumable requests/, { write: 8 }],
  // The round with the answers may be a repetition, whose call has become a task.
  [/^tasks declared/, { write: 4, read: 1 }],
  [/./, { write: 4 }],
];

describe('requests to the store for a saga of two guarded turns', () => {
  let world: World;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const { fetch } = serveEveryWay(optionsWith());
    const server = serve({ fetch, hostname: '127.0.0.1', port: 0, silent: true });
    await server.ready();
    const url = new URL('/mcp', server.url);
    const none = (): never => {
      throw new Error('There is no process.');
    };
    const stop = async (): Promise<void> => undefined;
    world = { urls: [url, url], cloud: undefined as never, ran: [], stdio: none, stop };
    close = () => server.close(true);
  });
  afterAll(() => close());

  const clients = [...sdkClients, ...rawClients].filter(({ name }) => name.includes('http'));
  it('[T13] are counted for each dialect', () => {
    const dialects = new Set(clients.map(({ name }) => name.split(':')[0]));
    expect(dialects).toEqual(
      new Set([
        'multi round-trip',
        'push',
        'resumable requests',
        'resume token',
        'saga methods',
        'tasks declared',
      ]),
    );
  });

  it.each(clients)('[T13] $name', async (client) => {
    requests.clear();
    const result = await client.call(
      world,
      { name: 'order', arguments: {} },
      { form: { action: 'accept', content: { target: 'Rome' } }, text: '' },
    );
    expect(result).toMatchObject({ content: [{ type: 'text', text: 'Sent to Rome.' }] });
    const [, asked] = expected.find(([name]) => name.test(client.name)) ?? [];
    expect(Object.fromEntries(requests)).toEqual(asked);
  });

  it('[T13] tasks of a client that polls after each answer', async () => {
    const client = taskClient(createSagaHost(optionsWith('prefer')));
    requests.clear();
    const answer = { action: 'accept', content: { target: 'Rome' } };
    // The first questions are asked before there is a task.
    const { requestState } = await client.call('order');
    const inputResponses = { 'step-first': answer };
    const { taskId } = await client.call('order', {}, { requestState, inputResponses });
    await client.idle();
    await client.get(String(taskId));
    await client.update(String(taskId), { 'step-second': answer });
    await client.idle();
    expect(await client.get(String(taskId))).toMatchObject({ status: 'completed' });
    expect(Object.fromEntries(requests)).toEqual({
      // Six for the turns, since the task is one more, and six for the task.
      write: 12,
      read: 15,
    });
  });
});
