import { elicit, machineSaga, step } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { assign, fromPromise, setup } from 'xstate';
import { z } from 'zod';
import { accept, Drive } from './support/drive.ts';

const ask = elicit({ message: 'Again?', schema: z.object({ again: z.boolean() }) });

/** What libraries throw: a class of their own, with a response that no token can hold. */
class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code = 'E_BUSY';
  readonly status = 503;
  readonly response = new Response('x'.repeat(100_000));
  constructor() {
    super('The bank is busy.', { cause: new TypeError('fetch failed', { cause: new Response() }) });
  }
}

/** A session that stores the error of its work in its context, and asks what to do. */
const session = (work: unknown) =>
  setup({
    types: { context: {} as { error: unknown; others: unknown[] }, output: {} as string },
    actors: { ask, work: work as ReturnType<typeof fromPromise> },
  }).createMachine({
    context: { error: null, others: [] },
    initial: 'working',
    states: {
      working: {
        invoke: {
          id: 'work',
          src: 'work',
          onError: {
            target: 'asking',
            actions: assign({
              error: ({ event }) => event.error,
              others: ({ event }) => [{ nested: event.error }],
            }),
          },
        },
      },
      asking: { invoke: { id: 'ask', src: 'ask', onDone: 'told' } },
      told: { type: 'final' },
    },
    output: ({ context: { error, others } }) =>
      JSON.stringify([error, others].flat().map((one) => factsOf((one as Nested).nested ?? one))),
  });

interface Nested {
  readonly nested?: unknown;
}

function factsOf(error: unknown): unknown {
  const { name, message, code, status, cause } = error as HttpError;
  const { name: cause1, message: because } = Object(cause) as Error;
  return [error instanceof Error, name, message, code, status, cause1, because];
}

describe('an error in the context of a machine', () => {
  it.each([
    ['a promise', fromPromise(() => Promise.reject(new HttpError()))],
    ['a step', step(() => Promise.reject(new HttpError()))],
  ])('is known after a question, bounded, if %s has thrown it', async (_, work) => {
    const run = new Drive(machineSaga({ name: 'm', version: '1', reuse: 'ok' }, session(work)));
    await run.start();
    expect(run.suspended.state.server.length).toBeLessThan(2_000);
    const end = await run.resume({ ask: accept({ again: false }) });
    const error = [true, 'HttpError', 'The bank is busy.', 'E_BUSY', 503];
    const facts = [...error, 'TypeError', 'fetch failed'];
    const { result } = end as { readonly result?: unknown };
    expect(JSON.parse(String(result))).toEqual([facts, facts]);
  });

  it('is bounded, too, if an action has made it', async () => {
    const machine = setup({
      types: { context: {} as { error: unknown }, output: {} as string },
      actors: { ask },
    }).createMachine({
      context: () => ({ error: new HttpError() }),
      initial: 'asking',
      states: {
        asking: { invoke: { id: 'ask', src: 'ask', onDone: 'told' } },
        told: { type: 'final' },
      },
      output: ({ context: { error } }) => JSON.stringify(factsOf(error)),
    });
    const run = new Drive(machineSaga({ name: 'm', version: '1', reuse: 'ok' }, machine));
    await run.start();
    const { result } = (await run.resume({ ask: accept({ again: false }) })) as {
      readonly result?: unknown;
    };
    const error = [true, 'HttpError', 'The bank is busy.', 'E_BUSY', 503];
    expect(JSON.parse(String(result))).toEqual([...error, 'TypeError', 'fetch failed']);
  });
});
