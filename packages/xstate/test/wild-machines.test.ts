/**
 * Machines as they are found in other programs: written for a page, a chat, or a worker, with plain
 * promises, events from outside, and no output. Each is served as it is, with the options of
 * `machineSaga` only.
 */
import type { Program } from '@mcp-saga/core';
import { crashEverywhere, testSaga } from '@mcp-saga/testing';
import { elicit, idempotencyKeyOf, machineSaga } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import {
  assign,
  fromPromise,
  setup,
  type AnyActorRef,
  type AnyEventObject,
  type AnyStateMachine,
} from 'xstate';
import { z } from 'zod';

describe('an onboarding agent, with ten promises and three states that wait', () => {
  interface Notes {
    readonly user: string;
    readonly notes: readonly string[];
  }
  const did: string[] = [];
  const work = (name: string) =>
    fromPromise(async ({ input }: { input: Notes }) => {
      did.push(`${name} ${input.notes.length}`);
      return name;
    });
  const names = [
    'greet',
    'profile',
    'plan',
    'mail',
    'room',
    'laptop',
    'badge',
    'payroll',
    'team',
    'sum',
  ];
  const first = names.slice(0, 3);
  const rest = names.slice(3);
  const invoke = (name: string, target: string): object => ({
    invoke: {
      src: name,
      // The whole context.
      input: ({ context }: { context: Notes }) => context,
      onDone: {
        target,
        actions: assign({
          notes: ({ context, event }: { context: Notes; event: AnyEventObject }) => [
            ...context.notes,
            event.output,
          ],
        }),
      },
      onError: 'failed',
    },
  });
  const chain = (chained: readonly string[], last: string): object =>
    Object.fromEntries(
      chained.map((name, index) => [name, invoke(name, chained[index + 1] ?? last)]),
    );
  const agent = setup({
    types: {
      input: {} as { user: string },
      context: {} as Notes,
      events: {} as { type: 'REPLY'; text: string } | { type: 'CONFIRM' } | { type: 'PAUSE' },
    },
    actors: Object.fromEntries(names.map((name) => [name, work(name)])) as Record<
      string,
      ReturnType<typeof work>
    >,
  }).createMachine({
    context: ({ input }: { input: { user: string } }) => ({ user: input.user, notes: [] }),
    initial: 'greet',
    states: {
      ...chain(first, 'awaiting'),
      awaiting: {
        on: {
          REPLY: {
            target: 'confirming',
            actions: assign({
              notes: ({ context, event }) => [
                ...context.notes,
                (event as unknown as { text: string }).text,
              ],
            }),
          },
          PAUSE: 'paused',
        },
      },
      confirming: { on: { CONFIRM: 'mail', REPLY: 'awaiting', PAUSE: 'paused' } },
      paused: { on: { REPLY: 'awaiting' } },
      ...chain(rest, 'complete'),
      complete: { type: 'final' },
      failed: { type: 'final' },
    },
  } as never);

  const Next = z.object({
    next: z.enum(['REPLY', 'CONFIRM', 'PAUSE']),
    text: z.string().optional(),
  });
  const ask = elicit({ message: 'What next?', schema: Next });
  type Answer = { readonly answer: z.infer<typeof Next>; readonly send: (event: never) => void };
  const onAnswer = ({ answer: { next, text = '' }, send }: Answer): void =>
    send({ type: next, text } as never);
  const asks = { ask, onAnswer };
  const onboarding = machineSaga(
    {
      name: 'onboarding',
      version: '1',
      input: z.object({ user: z.string() }),
      asks: { awaiting: asks, confirming: asks, paused: asks },
      result: ({ value, context }: { value: unknown; context: Notes }) =>
        `${String(value)}: ${context.notes.join()}`,
    } as never,
    agent as never,
  );

  it('goes through all of them, with pauses', async () => {
    did.length = 0;
    const run = await testSaga(onboarding as unknown as Program, { input: { user: 'ann' } })
      .on.elicit('awaiting', { next: 'PAUSE' })
      .on.elicit('paused@2', { next: 'REPLY' })
      .on.elicit('awaiting@3', { next: 'REPLY', text: 'a desk' })
      .on.elicit('confirming@4', { next: 'CONFIRM' })
      .run();
    const [a, b, c] = first;
    expect(run.result).toBe(`complete: ${[a, b, c, 'a desk', ...rest].join()}`);
    expect(did).toHaveLength(names.length);
  });
});

describe('a browser agent, whose promises come from a closure', () => {
  const clicks: string[] = [];
  const agentOf = (page: { readonly click: (key: string, target: string) => void }) => {
    const simple = (value: string) => fromPromise(async () => value);
    return setup({
      types: {
        context: {} as { action: string; done: readonly string[] },
        events: {} as { type: 'APPROVE' } | { type: 'REJECT' } | { type: 'EDIT'; action: string },
      },
      actors: {
        open: simple('opened'),
        look: simple('a form'),
        think: fromPromise(async ({ input }: { input: readonly string[] }) =>
          input.length === 0 ? 'buy' : 'stop',
        ),
        act: fromPromise(async ({ input, self }: { input: string; self: AnyActorRef }) => {
          page.click(idempotencyKeyOf(self), input);
          return input;
        }),
        check: simple('checked'),
        close: simple('closed'),
      },
    }).createMachine({
      context: { action: '', done: [] },
      initial: 'opening',
      states: {
        opening: { invoke: { src: 'open', onDone: 'looking' } },
        looking: { invoke: { src: 'look', onDone: 'thinking' } },
        thinking: {
          invoke: {
            src: 'think',
            input: ({ context }) => context.done,
            onDone: [
              { guard: ({ event }) => event.output === 'stop', target: 'closing' },
              {
                target: 'confirming',
                actions: assign({ action: ({ event }) => event.output }),
              },
            ],
          },
        },
        confirming: {
          on: {
            APPROVE: 'acting',
            REJECT: 'closing',
            EDIT: { actions: assign({ action: ({ event }) => event.action }) },
          },
        },
        acting: {
          invoke: {
            src: 'act',
            input: ({ context }) => context.action,
            onDone: {
              target: 'checking',
              actions: assign({ done: ({ context, event }) => [...context.done, event.output] }),
            },
          },
        },
        checking: { invoke: { src: 'check', onDone: 'looking' } },
        closing: { invoke: { src: 'close', onDone: 'closed' } },
        closed: { type: 'final' },
      },
    });
  };
  const provider = new Map<string, string>();
  const reading = ['open', 'look', 'think', 'check', 'close'];
  const browsing = machineSaga(
    {
      name: 'browse',
      version: '1',
      asks: {
        confirming: {
          ask: elicit({
            message: ({ input }: { input: string }) => `May I ${input}?`,
            schema: z.object({ edit: z.string().optional() }),
          }),
          input: ({ context }) => context.action,
          onAnswer: ({ answer: { edit }, send }) =>
            send(edit === undefined ? { type: 'APPROVE' } : { type: 'EDIT', action: edit }),
          onError: ({ send }) => send({ type: 'REJECT' }),
        },
      },
      steps: Object.fromEntries(reading.map((name) => [name, { reads: true }])),
      result: ({ context }) => `Done: ${context.done.join()}`,
    },
    agentOf({
      click: (key, target) => {
        clicks.push(target);
        provider.set(key, target);
      },
    }),
  );

  it('asks again after an edit, and clicks once, whatever dies', async () => {
    const asked = testSaga(browsing, { before: () => provider.clear() })
      .on.elicit('confirming', { edit: 'rent' })
      .on.elicit('confirming@2', {});
    expect((await asked.run()).result).toBe('Done: rent');
    expect((await testSaga(browsing).refuse.elicit('confirming').run()).result).toBe('Done: ');
    await crashEverywhere(asked, {
      check: () => {
        // The key makes one of two clicks, and the machine has learned of it.
        expect([...provider.values()]).toEqual(['rent']);
      },
    });
  });
});

describe('a feature workflow, without IDs and without output', () => {
  const did: string[] = [];
  const role = (name: string, ends: readonly boolean[] = [true]) => {
    let runs = 0;
    return fromPromise(async () => {
      did.push(name);
      return ends[Math.min(runs++, ends.length - 1)] === true;
    });
  };

  it('runs its loop, and is told by its state', async () => {
    const workflow = setup({
      actors: {
        planner: role('plan'),
        developer: role('develop'),
        validator: role('validate', [false, true]),
        committer: role('commit'),
      },
    }).createMachine({
      id: 'feature',
      initial: 'planning',
      states: {
        planning: { invoke: { src: 'planner', onDone: 'developing', onError: 'failed' } },
        developing: { invoke: { src: 'developer', onDone: 'validating', onError: 'failed' } },
        validating: {
          invoke: {
            src: 'validator',
            onDone: [
              { guard: ({ event }) => event.output, target: 'committing' },
              { target: 'developing' },
            ],
            onError: 'failed',
          },
        },
        committing: { invoke: { src: 'committer', onDone: 'done', onError: 'failed' } },
        done: { type: 'final' },
        failed: { type: 'final' },
      },
    });
    const feature = machineSaga(
      { name: 'feature', version: '1', result: ({ value }) => `The feature is ${value}.` },
      workflow,
    );
    expect((await testSaga(feature).run()).result).toBe('The feature is done.');
    expect(did).toEqual(['plan', 'develop', 'validate', 'develop', 'validate', 'commit']);
  });
});

describe('a session, which stores errors and never ends', () => {
  it('goes on after an error, until its user leaves', async () => {
    const fails = (name: string, code: string) =>
      fromPromise(async ({ input }: { input: number }) => {
        if (input < 1) throw Object.assign(new Error(`${name} failed`), { code });
        return name;
      });
    const session = setup({
      types: {
        context: {} as { error: Error | null; tries: number; token: string | null },
        events: {} as { type: 'LOGIN' } | { type: 'REFRESH' } | { type: 'LOGOUT' },
      },
      actors: { login: fails('login', 'E_LOGIN'), refresh: fails('refresh', 'E_REFRESH') },
      actions: {
        noteFailure: assign({
          error: ({ event }) => (event as unknown as { error: Error }).error,
          tries: ({ context }) => context.tries + 1,
        }),
      },
    }).createMachine({
      context: { error: null, tries: 0, token: null },
      initial: 'signedOut',
      states: {
        signedOut: { on: { LOGIN: 'signingIn' } },
        signingIn: {
          invoke: {
            src: 'login',
            input: ({ context }) => context.tries,
            onDone: {
              target: 'signedIn',
              actions: assign({ token: ({ event }) => event.output, error: null }),
            },
            onError: { target: 'signedOut', actions: 'noteFailure' },
          },
        },
        signedIn: { on: { REFRESH: 'refreshing', LOGOUT: 'signedOut' } },
        refreshing: {
          invoke: {
            src: 'refresh',
            input: ({ context }) => context.tries,
            onDone: 'signedIn',
            onError: { target: 'signedOut', actions: 'noteFailure' },
          },
        },
      },
    });
    interface Context {
      readonly error: (Error & { readonly code?: string }) | null;
    }
    const seen: (string | undefined)[] = [];
    const ask = elicit({
      message: ({ input }: { input: string | undefined }) => {
        seen.push(input);
        return 'What now?';
      },
      schema: z.object({ event: z.enum(['LOGIN', 'REFRESH', 'LOGOUT']) }),
    });
    const asks = {
      ask,
      input: ({ context }: { context: Context }) => context.error?.code,
      onAnswer: ({ answer, send }: { answer: { event: string }; send: (event: object) => void }) =>
        send({ type: answer.event }),
    };
    const saga = machineSaga(
      { name: 'session', version: '1', asks: { signedOut: asks, signedIn: asks } },
      session as unknown as AnyStateMachine,
    );
    const run = await testSaga(saga as unknown as Program)
      .on.elicit('signedOut', { event: 'LOGIN' })
      .on.elicit('signedOut@2', { event: 'LOGIN' })
      .on.elicit('signedIn@3', { event: 'REFRESH' })
      .refuse.elicit('signedIn@4')
      .run();
    expect(run).toMatchObject({ status: 'failed', error: { name: 'ElicitationRefused' } });
    expect(new Set(seen)).toEqual(new Set([undefined, 'E_LOGIN']));
  });
});

describe('an import queue, with a random ID inside of an action', () => {
  it('imports what its events add', async () => {
    const imported: string[] = [];
    const queue = setup({
      types: {
        context: {} as { items: readonly { id: string; url: string }[]; done: number },
        events: {} as { type: 'ADD'; url: string } | { type: 'START' },
      },
      actors: {
        load: fromPromise(async ({ input }: { input: string }) => void imported.push(input)),
      },
    }).createMachine({
      context: { items: [], done: 0 },
      initial: 'filling',
      states: {
        filling: {
          on: {
            ADD: {
              actions: assign({
                items: ({ context, event }) => [
                  ...context.items,
                  { id: crypto.randomUUID(), url: event.url },
                ],
              }),
            },
            START: 'next',
          },
        },
        next: {
          always: [
            {
              guard: ({ context }) => context.done < context.items.length,
              target: 'loading',
            },
            { target: 'empty' },
          ],
        },
        loading: {
          invoke: {
            src: 'load',
            input: ({ context }) => context.items[context.done]?.url ?? '',
            onDone: {
              target: 'next',
              actions: assign({ done: ({ context }) => context.done + 1 }),
            },
          },
        },
        empty: { type: 'final' },
      },
    });
    const saga = machineSaga(
      {
        name: 'imports',
        version: '1',
        asks: {
          filling: {
            ask: elicit({ message: 'More?', schema: z.object({ url: z.string().optional() }) }),
            onAnswer: ({ answer: { url }, send }) =>
              send(url === undefined ? { type: 'START' } : { type: 'ADD', url }),
          },
        },
        result: ({ context: { items } }) =>
          `${items.length} items, ${new Set(items.map(({ id }) => id)).size} IDs`,
      },
      queue,
    );
    const run = await testSaga(saga)
      .on.elicit('filling', { url: 'a' })
      .on.elicit('filling@2', { url: 'b' })
      .on.elicit('filling@3', {})
      .run();
    expect(run.result).toBe('2 items, 2 IDs');
    expect(imported).toEqual(['a', 'b']);
  });
});
