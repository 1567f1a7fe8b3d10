import { inspect } from 'node:util';
import {
  approval,
  createSagaHost,
  memoryStore,
  saga,
  step,
  waitFor,
  type HostHooks,
  type QueueMessage,
  type SagaStore,
  type SagaHost,
} from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { testClock } from '../fixtures/clock.ts';
import { oldKey, suspended } from '../fixtures/host.ts';
import { base, caller, day, hour, user } from './case.ts';
import { alterEnd } from '../../../../test/support/wire/tamper.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

/** What must not be seen. */
const canaries = {
  answer: 'canary-of-the-answer',
  event: 'canary-of-the-event',
  provider: 'canary-of-the-provider',
  store: 'canary-of-the-store',
};

const consoles = ['log', 'info', 'warn', 'error', 'debug'] as const;
let printed: unknown[];

beforeEach(() => {
  printed = [];
  for (const level of consoles)
    vi.spyOn(console, level).mockImplementation((...all) => void printed.push(all));
});
afterEach(() => vi.restoreAllMocks());

function shown(value: unknown): string {
  return inspect(value, {
    depth: 12,
    showHidden: true,
    maxStringLength: null,
    maxArrayLength: null,
  });
}

/** Parts of sealed texts: the nonce, the ciphertext, and the tag. */
function partsOf(sealed: string): readonly string[] {
  const [, , nonce = '', text = '', tag = ''] = sealed.split('.');
  return [nonce, text.slice(0, 24), text.slice(-24), tag].filter((part) => part.length > 15);
}

interface World {
  readonly host: SagaHost;
  /** Links, webhooks, tokens, and messages of the queue. */
  readonly secrets: string[];
  /** Texts for senders and for stores of queues. */
  readonly bodies: string[];
  attack(): Promise<void>;
}

const Form = z.object({ comment: z.string().min(3) });
const form = { origin: 'null', 'sec-fetch-site': 'same-origin' };

function worldOf(hooks: HostHooks | undefined, environment: string): World {
  const clock = testClock();
  const urls: string[] = [];
  const messages: string[] = [];
  const secrets: string[] = [];
  const bodies: string[] = [];
  const down = { store: false, provider: false };
  const fail = (what: 'store' | 'provider'): void => {
    if (down[what]) throw new Error(canaries[what], { cause: canaries[what] });
  };
  const asks = saga({ name: 'asks', version: '1' }, function* () {
    yield* step('reserve', () => 1, {
      compensate: () => {
        throw new Error(canaries.provider);
      },
    });
    const { answers } = yield* approval('go', {
      message: 'Go?',
      schema: Form,
      of: 2,
      by: 'all',
      timeout: day,
      remindEvery: hour,
      deliver: ({ url, isReminder }) => {
        urls.push(url);
        if (isReminder) fail('provider');
      },
    });
    const paid = yield* waitFor('payment', {
      schema: z.object({ status: z.literal('paid') }),
      register: ({ url }) => void urls.push(url),
      verify: 'bank',
      timeout: day,
    });
    yield* step('pay', () => {
      throw new Error(`${canaries.provider} ${JSON.stringify([answers, paid]).length}`);
    });
    return 'done';
  });
  const answers = memoryStore({ clock });
  const failing: Partial<SagaStore> = {
    write: (...given) => (fail('store'), answers.write(...given)),
    read: (...given) => (fail('store'), answers.read(...given)),
    append: (...given) => (fail('store'), answers.append(...given)),
    list: (...given) => (fail('store'), answers.list(...given)),
  };
  const options = {
    sagas: [asks],
    keys: oldKey,
    store: Object.assign(
      storeWithGuard(
        (guard) => ({ begin: (claim) => (fail('store'), guard.begin(claim)) }),
        answers,
      ),
      failing,
    ),
    url: base,
    webhooks: {
      bank: ({ headers }: Request) => {
        fail('provider');
        return headers.get('signature') === 'good';
      },
    },
    queue: {
      send: (message: QueueMessage) => {
        messages.push(message.token);
        fail('store');
      },
      wake: () => fail('store'),
      receive: (request: Request) => {
        fail('provider');
        return request.json() as Promise<QueueMessage>;
      },
    },
    auth: {
      mayAnswer: () => {
        fail('provider');
        return true;
      },
    },
    limits: { maxHold: 0 },
    testing: { clock, environment },
    ...(hooks === undefined ? {} : { hooks }),
  } as const;
  const host = createSagaHost({ ...options, name: 'shop' });
  const served = serveSagas({ ...options, name: 'shop', version: '1' });
  const keep = async (response: Promise<Response>): Promise<void> => {
    const { status, headers, ...given } = await response.then(async (one) => ({
      status: one.status,
      headers: one.headers,
      text: await one.text(),
    }));
    bodies.push(`${status} ${JSON.stringify([...headers])} ${given.text}`);
  };
  const keepError = async (call: Promise<unknown>): Promise<void> => {
    const error: unknown = await call.catch((thrown: unknown) => thrown);
    // Queues store messages of errors.
    if (error instanceof Error) bodies.push(error.message);
  };
  const post = (url: string, by: string, fields: Record<string, string>): Promise<Response> =>
    host.answer(
      new Request(url, { method: 'POST', headers: form, body: new URLSearchParams(fields) }),
      {
        caller: user(by),
      },
    );
  const event = (url: string, body: string, signature = 'good'): Promise<Response> =>
    host.answer(new Request(url, { method: 'POST', headers: { signature }, body }));
  const wake = (token: string): Promise<Response> =>
    served.fetch(
      new Request(`${base}/saga/wake`, {
        method: 'POST',
        body: JSON.stringify({ sagaId: 's', turn: 1, token }),
      }),
    );
  /** Sends everything that is known: whole, changed, cut, and to the wrong place. */
  const sendAll = async (): Promise<void> => {
    for (const token of [...secrets, ...messages].map((text) => text.split('/').at(-1) ?? '')) {
      for (const sent of [token, `${token}A`, token.slice(0, -5), alterEnd(token)]) {
        await keepError(host.resume(`${sent}x`, [], { caller }));
        await keepError(host.cancel(`${sent}x`, { caller }));
        await keepError(host.deliver({ sagaId: 's', turn: 1, token: sent }));
        await keep(wake(`${sent}x`));
        await keep(
          host.answer(new Request(`${base}/saga/answer/${sent}x`), { caller: user('bob') }),
        );
        await keep(event(`${base}/saga/event/${sent}x`, JSON.stringify({ x: canaries.event })));
      }
    }
  };
  const deliverUntil = async (isDone: (status: string) => boolean): Promise<void> => {
    for (let turns = 0; turns < 5; turns += 1) {
      clock.now += hour;
      const message = { sagaId: 's', turn: 1, token: messages.at(-1) ?? '' };
      if (isDone((await host.deliver(message)).status)) return;
    }
    throw new Error('The saga does not continue.');
  };
  const attack = async (): Promise<void> => {
    const { token } = suspended(await host.start('asks', {}, { caller }));
    secrets.push(token);
    const [link = ''] = urls;
    const approve = { decision: 'approve', f0: canaries.answer };
    for (const what of ['store', 'provider'] as const) {
      down[what] = true;
      clock.now += hour;
      await keep(post(link, 'ann', approve));
      await keep(wake(messages.at(-1) ?? ''));
      await keepError(host.deliver({ sagaId: 's', turn: 1, token: messages.at(-1) ?? '' }));
      await keepError(host.resume(token, [], { caller }));
      await sendAll();
      down[what] = false;
    }
    expect((await post(link, 'ann', approve)).status).toBe(200);
    await keep(host.answer(new Request(link), { caller: user('bob') }));
    await keep(post(link, 'bob', { decision: 'approve', f0: '' }));
    expect((await post(link, 'bob', approve)).status).toBe(200);
    await deliverUntil(() => urls.some((url) => url.includes('/event/')));
    const webhook = urls.find((url) => url.includes('/event/')) ?? '';
    await keep(event(webhook, canaries.event));
    await keep(event(webhook, JSON.stringify({ status: canaries.event }), canaries.event));
    down.provider = true;
    await keep(event(webhook, JSON.stringify({ status: canaries.event })));
    down.provider = false;
    await keep(event(webhook, JSON.stringify({ status: 'paid', note: canaries.event })));
    secrets.push(...urls, ...messages);
    // The step and its undo fail with the error of the provider.
    await deliverUntil((status) => status === 'ended');
    await sendAll();
    await keep(post(link, 'eve', approve));
  };
  return { host, secrets, bodies, attack };
}

function expectNone(value: unknown, unwanted: readonly string[], what: string): void {
  const text = shown(value);
  for (const secret of unwanted)
    expect([what, secret, text.includes(secret)]).toEqual([what, secret, false]);
}

const secretsOf = ({ secrets }: World): readonly string[] => [
  ...secrets.map((text) => text.split('/').at(-1) ?? '').flatMap(partsOf),
  oldKey.split(':')[1] ?? '',
];

describe('answers from outside, beside a queue', () => {
  it('[T5] [T14] do not appear in the default log, nor do their tokens, links, and error messages', async () => {
    const world = worldOf(undefined, 'production');
    await world.attack();
    expect(shown(printed)).toContain('mcp-saga');
    expectNone(printed, [...secretsOf(world), ...Object.values(canaries)], 'log');
  });

  it('[T5] [T14] do not appear in a hook, nor do their tokens and links', async () => {
    const told = new Map<string, unknown[]>();
    const hooks = Object.fromEntries(
      ['onReject', 'onIgnoredAnswer', 'onStep', 'onSettled', 'onTurn', 'onError', 'onWarning'].map(
        (name) => [
          name,
          (...all: readonly unknown[]) => void told.set(name, [...(told.get(name) ?? []), all]),
        ],
      ),
    ) as HostHooks;
    const world = worldOf(hooks, 'production');
    await world.attack();
    expect([...told.keys()]).toEqual(
      expect.arrayContaining(['onReject', 'onSettled', 'onTurn', 'onError']),
    );
    for (const [name, all] of told)
      expectNone(all, [...secretsOf(world), canaries.answer, canaries.event], name);
    expect(printed).toEqual([]);
  });

  it('[T5] [T14] of other persons do not appear in a response body, nor do tokens and error messages', async () => {
    const world = worldOf({ onTurn: () => undefined, onError: () => undefined }, 'production');
    await world.attack();
    expect(world.bodies.length).toBeGreaterThan(100);
    expectNone(world.bodies, [...secretsOf(world), ...Object.values(canaries)], 'body');
  });
});
