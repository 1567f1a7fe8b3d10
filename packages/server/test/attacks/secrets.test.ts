import { inspect } from 'node:util';
import {
  elicit,
  elicitUrl,
  memoryStore,
  saga,
  SagaError,
  step,
  type HostHooks,
  type Saga,
} from '@mcp-saga/server';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { hooksInto, hostOf, nothingTold, oldKey, suspended } from '../fixtures/host.ts';
import { accepted } from '../fixtures/rounds.ts';
import { thrownBy } from '../fixtures/thrown-by.ts';
import { start, testClock } from '../fixtures/clock.ts';
import { deploys, comparedHost, send, ways } from '../fixtures/ways.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const consoles = ['log', 'info', 'warn', 'error', 'debug'] as const;
let printed: unknown[];

beforeEach(() => {
  printed = [];
  for (const level of consoles)
    vi.spyOn(console, level).mockImplementation((...all) => void printed.push(all));
});

afterEach(() => vi.restoreAllMocks());

/** All that can be seen of a value, hidden properties and causes included. */
function seen(value: unknown): string {
  return inspect(value, {
    depth: 12,
    showHidden: true,
    maxStringLength: null,
    maxArrayLength: null,
  });
}

/** Nothing shows a part of a token, or of the key. */
function expectNoSecret(shown: unknown, tokens: readonly string[]): void {
  const text = seen(shown);
  expect(text).not.toContain(oldKey.split(':')[1]);
  for (const token of tokens) {
    const [, secretOfTask = '', nonce = '', sealed = '', tag = ''] = token.split('.');
    // The ID of a task is short: its saga, and its secret.
    const secrets =
      secretOfTask === '' ? [nonce, sealed.slice(0, 24), sealed.slice(-24), tag] : [secretOfTask];
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(15);
      expect(text.includes(secret)).toBe(false);
    }
  }
}

function fails(): Saga<undefined, undefined> {
  return saga({ name: 'deploys', version: '1', task: 'prefer' }, function* () {
    yield* step('build', () => undefined);
    const { target } = yield* elicit('target', {
      message: 'Where?',
      schema: z.object({ target: z.string() }),
    });
    yield* step('deploy', () => {
      throw new SagaError(`Not to ${target.length}`);
    });
    return 'never';
  });
}

const answers = { target: accepted({ target: 'production' }) };

/** What may be done with a token: goes well, fails, is refused in each way. */
const uses: readonly ((token: string) => unknown)[] = [
  (token) => token,
  (token) => `${token}A`,
  (token) => token.slice(0, -5),
  (token) => token.replace(/.{4}$/, 'AAAA'),
  (token) => [token],
  (token) => ({ token }),
  (token) => token,
];

describe.each(ways)('a token of $name', (way) => {
  test.each(['production', 'development'])(
    '[T5] [T14] is in no default log of a host in %s, however it is used',
    async (environment) => {
      for (const program of [deploys(), fails()]) {
        const server = comparedHost([program], { hooks: {}, testing: { environment } });
        const token = await way.begin(server);
        for (const use of uses) {
          const { last } = await way.goOn(server, use(token), answers);
          const { error } = last;
          // If a call continues, an error contains the next token. An error that refuses contains
          // none.
          if (error !== undefined && !error.message.startsWith('Input is required'))
            expectNoSecret(error, [token]);
        }
        expectNoSecret(printed, [token]);
      }
      expect(seen(printed)).toContain('A token was rejected');
    },
  );

  test('[T5] [T14] is passed to no hook, and is in no error that a hook gets', async () => {
    const told: unknown[] = [];
    const note = (...all: readonly unknown[]): void => void told.push(all);
    const names = Object.keys(hooksInto(nothingTold()));
    const hooks = Object.fromEntries(names.map((hook) => [hook, note])) as HostHooks;
    for (const program of [deploys(), fails()]) {
      const server = comparedHost([program], { hooks, store: memoryStore({ clock: () => start }) });
      const token = await way.begin(server);
      for (const use of uses) {
        await way.goOn(server, use(token), answers);
      }
      expectNoSecret(told, [token]);
    }
    expect(told.length).toBeGreaterThan(5);
    expect(printed).toEqual([]);
  });

  test('[T14] in the URL of a request is ignored, and the call starts again', async () => {
    const ran: string[] = [];
    const server = comparedHost([deploys(ran)]);
    const token = await way.begin(server);
    const fields = ['sagaToken', 'resumeToken', 'requestState', 'taskId', 'token'];
    const url = `/mcp?${fields.map((field) => `${field}=${token}`).join('&')}`;
    const { text } = await send(server, 'tools/callSaga', { name: 'deploys' }, { url });
    expect(text).not.toContain(token);
    expect(ran).toEqual(['build', 'build']);
    const { last } = await send(server, 'tools/resumeSaga', { completedSteps: [] }, { url });
    expect(last.error).toMatchObject({ message: 'Invalid params: sagaToken: expected a string' });
    expectNoSecret(server.told, [token]);
  });
});

test('[T14] the URL of the author goes to the user without a token', async () => {
  const pays = saga({ name: 'pays', version: '1' }, function* () {
    yield* elicitUrl('pay', { message: 'Pay here', url: 'https://pay.example/7' });
    return 'paid';
  });
  const server = comparedHost([pays]);
  const { last } = await send(
    server,
    'tools/call',
    { name: 'pays' },
    { capabilities: { elicitation: { url: {} } } },
  );
  const { inputRequests, requestState } = last.result as {
    readonly inputRequests: { readonly pay: { readonly params: { readonly url: string } } };
    readonly requestState: string;
  };
  expect(inputRequests.pay.params.url).toBe('https://pay.example/7');
  expectNoSecret(inputRequests, [requestState]);
});

test('[T5] [T13] an error of a guard is reported without the token', async () => {
  const told = nothingTold();
  const failing = async (...given: readonly unknown[]): Promise<never> => {
    throw Object.assign(new Error('The store is down'), { given });
  };
  const { host } = hostOf(deploys(), {
    store: storeWithGuard(
      () => ({ begin: failing, finish: failing, claim: failing }),
      memoryStore({ clock: () => start }),
    ),
    hooks: hooksInto(told),
    clock: testClock(),
  });
  const { token } = suspended(await host.start('deploys', {}));
  const error = await thrownBy(
    Error,
    host.resume(token, [{ stepId: 'target', result: answers.target as never }]),
  );
  expectNoSecret([error, told], [token]);
});
