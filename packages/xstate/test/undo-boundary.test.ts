import {
  createSagaHost,
  ElicitationRefused,
  SagaAborted,
  SagaError,
  type SagaHost,
  type StepAnswer,
} from '@mcp-saga/server';
import { elicit, machineSaga, step } from '@mcp-saga/xstate';
import { fromPromise, setup } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { publicMessageOf } from '../../server/src/wire/errors.ts';
import { storeWithGuard } from '../../../test/support/store-with-guard.ts';

interface Shop {
  readonly did: string[];
  readonly host: SagaHost;
  /** Aborts a request as soon as the guard stores its turn. */
  readonly aborting: { request: AbortController | undefined };
  /** The errors that the hooks received at the end. */
  readonly errors: unknown[];
}

type Fault = 'none' | 'error' | 'quota' | 'stock' | 'closed' | 'hostile' | 'tagged' | 'refused';

/**
 * Asks, charges, ships: the first time it comes so far, the fault happens, and then never again.
 */
function shop(fault: Fault, reuse?: 'ok'): Shop {
  const did: string[] = [];
  let tries = 0;
  const once = (): Fault => {
    tries += 1;
    return tries === 1 ? fault : 'none';
  };
  const ask = elicit({ message: 'Sure?', schema: z.object({}) });
  const charge = step(() => void did.push('charge'), { compensate: () => void did.push('refund') });
  const ship = step(() => {
    const now = once();
    if (now === 'error') throw new Error('no parcels today');
    if (now === 'quota') throw new SagaError('Nothing is shipped on Sundays.');
    did.push('ship');
    return now === 'tagged';
  });
  const machine = setup({
    types: { output: {} as string },
    actors: {
      ask,
      charge,
      ship,
      // A plain promise has nothing to undo, and may still fail the machine.
      stock: fromPromise(async () => {
        const now = once();
        if (now === 'stock') throw new Error('sold out');
        if (now === 'hostile') throw hostile();
        if (now === 'closed') throw new SagaError('The warehouse is closed.');
      }),
    },
  }).createMachine({
    initial: 'asking',
    states: {
      asking: { invoke: { id: 'sure', src: 'ask', onDone: 'charging', onError: 'left' } },
      charging: { invoke: { id: 'charge', src: 'charge', onDone: 'again' } },
      again: { invoke: { id: 'really', src: 'ask', onDone: 'looking' } },
      looking:
        fault === 'stock' || fault === 'closed' || fault === 'hostile'
          ? { invoke: { id: 'stock', src: 'stock', onDone: 'shipping' } }
          : { always: 'shipping' },
      shipping: {
        invoke: {
          id: 'ship',
          src: 'ship',
          onDone: [{ guard: ({ event }) => event.output, target: 'left' }, { target: 'shipped' }],
        },
      },
      shipped: { type: 'final' },
      left: { type: 'final', tags: 'compensate' },
    },
    output: 'That is all.',
  });
  const aborting: Shop['aborting'] = { request: undefined };
  const store = storeWithGuard((guard) => ({
    finish: (fence, response) => {
      aborting.request?.abort();
      return guard.finish(fence, response);
    },
  }));
  const errors: unknown[] = [];
  const host = createSagaHost({
    sagas: [machineSaga({ name: 'shop', version: '1', reuse }, machine)],
    keys: 'ephemeral',
    name: 'test',
    testing: { environment: 'test' },
    store,
    hooks: {
      onWarning: () => undefined,
      onTurn: (turn) => void ('error' in turn && errors.push(turn.error)),
    },
  });
  return { did, host, aborting, errors };
}

/** Something that throws whenever it is looked at. */
function hostile(): object {
  const refuse = (): never => {
    throw new Error('not this');
  };
  return new Proxy({}, { get: refuse, has: refuse, getPrototypeOf: refuse });
}

function yes(stepId: string): readonly StepAnswer[] {
  return [{ stepId, result: { action: 'accept', content: {} } }];
}

async function tokenOf(turn: ReturnType<SagaHost['start']>): Promise<string> {
  const { status, ...rest } = await turn;
  if (!('token' in rest)) throw new Error(status);
  return rest.token;
}

/**
 * Resumes, and aborts the request as soon as the guard stores its turn, so the client gets no
 * response.
 */
async function lost(
  { host, aborting }: Shop,
  token: string,
  answers: readonly StepAnswer[],
): Promise<void> {
  const request = new AbortController();
  aborting.request = request;
  await expect(host.resume(token, answers, { signal: request.signal })).rejects.toThrow('aborted');
  aborting.request = undefined;
}

describe('the undo of a machine under a guard', () => {
  it.each([
    ['an effect failed', 'error'],
    ['a plain promise failed', 'stock'],
    ['it ended in a tagged state', 'tagged'],
  ] as const)('[E1] [E3] is decided once: %s', async (_, fault) => {
    const made = shop(fault);
    const { host, did } = made;
    const first = await tokenOf(host.start('shop', {}));
    const token = await tokenOf(host.resume(first, yes('sure')));
    await lost(made, token, yes('really@2'));
    const before = did.length;
    expect(did).not.toContain('refund');

    const end = await host.resume(token, yes('really@2'));
    expect(end).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'charge' }],
      uncompensated: [],
    });
    expect(did.slice(before)).toEqual(['refund']);
    // The undo does not run again for a further request.
    expect(await host.resume(token, yes('really@2'))).toMatchObject({
      compensated: [{ stepId: 'charge' }],
    });
    expect(did.slice(before)).toEqual(['refund']);
  });

  it('[E3] runs after any thrown value', async () => {
    const { host, did } = shop('hostile');
    const first = await tokenOf(host.start('shop', {}));
    const token = await tokenOf(host.resume(first, yes('sure')));
    const end = await host.resume(token, yes('really@2'));
    expect(end).toMatchObject({ status: 'failed', compensated: [{ stepId: 'charge' }] });
    expect(did).toEqual(['charge', 'refund']);
  });

  it.each(['error', 'quota', 'stock', 'closed', 'tagged', 'refused'] as const)(
    '[E3] keeps the reason: %s',
    async (fault) => {
      const reasons = [];
      const messages = [];
      for (const reuse of ['ok', undefined] as const) {
        const { host, errors } = shop(fault, reuse);
        const first = await tokenOf(host.start('shop', {}));
        const token = await tokenOf(host.resume(first, yes('sure')));
        const answers =
          fault === 'refused'
            ? [{ stepId: 'really@2', result: { action: 'decline' } }]
            : yes('really@2');
        const end = await host.resume(token, answers);
        expect(end).toMatchObject({ status: 'failed', compensated: [{ stepId: 'charge' }] });
        reasons.push(outline(errors.at(-1)));
        if (reuse === undefined)
          messages.push(outline(toError(await host.resume(token, answers))).message);
        else messages.push(publicMessageOf('shop', errors.at(-1)));
      }
      expect(reasons[1]).toEqual(reasons[0]);
      expect(messages[1]).toBe(messages[0]);
    },
  );
});

/** The fields of an error that hosts and logs show. */
function outline(error: unknown): { readonly message: string; readonly [fact: string]: unknown } {
  const { name, message, code, stepId, action } = error as {
    readonly [key in 'name' | 'message' | 'code' | 'stepId' | 'action']: string;
  };
  const wanted = error instanceof SagaAborted || error instanceof ElicitationRefused;
  const isPublic = error instanceof SagaError && error.public;
  return { name, message, code: code ?? 'machine_failed', stepId, action, isPublic, wanted };
}

function toError(turn: object): unknown {
  return (turn as { readonly error?: unknown }).error;
}
