import { createSagaHost, memoryStore, type SagaHost } from '@mcp-saga/server';
import { elicit, isDeclined, machineSaga, sample, step } from '@mcp-saga/xstate';
import { assign, fromPromise, setup } from 'xstate';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { connections } from '../../server/test/fixtures/connections.ts';

const Target = z.object({ target: z.string() });
const text = { output: {} as string };
const ask = elicit({ message: 'Where to?', schema: Target });
const model = sample({
  messages: [{ role: 'user', content: { type: 'text', text: 'Safe?' } }],
  maxTokens: 9,
  parse: ({ content }) => (content.type === 'text' ? content.text : ''),
});
const undone: string[] = [];
const end = { type: 'final' } as const;

const linear = setup({
  types: {
    ...text,
    input: {} as { service: string },
    context: {} as { service: string; target: string },
  },
  actors: { ask, deploy: step(({ input }: { input: { to: string } }) => `to ${input.to}`) },
}).createMachine({
  context: ({ input }) => ({ service: input.service, target: '' }),
  initial: 'asking',
  states: {
    asking: {
      invoke: {
        id: 'target',
        src: 'ask',
        onDone: {
          target: 'deploying',
          actions: assign({ target: ({ event }) => event.output.target }),
        },
      },
    },
    deploying: {
      invoke: {
        id: 'deploy',
        src: 'deploy',
        input: ({ context }) => ({ to: context.target }),
        onDone: 'end',
      },
    },
    end,
  },
  output: ({ context }) => `${context.service} ${context.target}`,
});

const parallel = setup({
  types: { ...text, context: {} as { said: string } },
  actors: { ask, model },
}).createMachine({
  context: { said: '' },
  initial: 'both',
  states: {
    both: {
      type: 'parallel',
      states: {
        person: {
          initial: 'a',
          states: { a: { invoke: { id: 'target', src: 'ask', onDone: 'end' } }, end },
        },
        model: {
          initial: 'a',
          states: {
            a: {
              invoke: {
                id: 'model',
                src: 'model',
                onDone: { target: 'end', actions: assign({ said: ({ event }) => event.output }) },
              },
            },
            end,
          },
        },
      },
      onDone: 'end',
    },
    end,
  },
  output: ({ context }) => `both, ${context.said}`,
});

const decline = setup({
  types: text,
  actors: { ask, hold: step(() => 'h1', { compensate: ({ result }) => void undone.push(result) }) },
  guards: { isDeclined },
}).createMachine({
  initial: 'holding',
  states: {
    holding: { invoke: { id: 'hold', src: 'hold', onDone: 'asking' } },
    asking: {
      invoke: {
        id: 'target',
        src: 'ask',
        onDone: 'end',
        onError: { guard: 'isDeclined', target: 'left' },
      },
    },
    end,
    left: { ...end, tags: ['compensate'] },
  },
  output: 'Nothing was deployed.',
});

const inner = setup({ types: text, actors: { ask } }).createMachine({
  initial: 'a',
  states: { a: { invoke: { id: 'target', src: 'ask', onDone: 'end' } }, end },
  output: 'from the child',
});
const child = setup({
  types: { ...text, context: {} as { got: string } },
  actors: { inner },
}).createMachine({
  context: { got: '' },
  initial: 'a',
  states: {
    a: {
      invoke: {
        id: 'inner',
        src: 'inner',
        onDone: { target: 'end', actions: assign({ got: ({ event }) => event.output }) },
      },
    },
    end,
  },
  output: ({ context }) => context.got,
});

const late = setup({ types: text, actors: { ask } }).createMachine({
  initial: 'asking',
  states: {
    asking: { invoke: { id: 'target', src: 'ask', onDone: 'end' }, after: { 60_000: 'boss' } },
    boss: { invoke: { id: 'boss', src: 'ask', onDone: 'end' } },
    end,
  },
  output: 'answered',
});

const promise = setup({
  types: { ...text, context: {} as { got: string } },
  actors: { ask, look: fromPromise(async () => 'looked') },
}).createMachine({
  context: { got: '' },
  initial: 'a',
  states: {
    a: {
      invoke: {
        src: 'look',
        onDone: { target: 'b', actions: assign({ got: ({ event }) => event.output }) },
      },
    },
    b: { invoke: { id: 'target', src: 'ask', onDone: 'c' } },
    c: {
      invoke: {
        src: 'look',
        onDone: {
          target: 'end',
          actions: assign({ got: ({ context, event }) => `${context.got}, ${event.output}` }),
        },
      },
    },
    end,
  },
  output: ({ context }) => context.got,
});

let time = Date.UTC(2026, 0, 1);
const host: SagaHost = createSagaHost({
  sagas: [
    machineSaga({ name: 'linear', version: '1', input: z.object({ service: z.string() }) }, linear),
    machineSaga({ name: 'parallel', version: '1' }, parallel),
    machineSaga({ name: 'decline', version: '1' }, decline),
    machineSaga({ name: 'child', version: '1' }, child),
    machineSaga({ name: 'after', version: '1' }, late),
    machineSaga({ name: 'promise', version: '1' }, promise),
  ],
  keys: 'ephemeral',
  name: 'test',
  testing: { environment: 'test', clock: () => time },
  store: memoryStore({ clock: () => time }),
  hooks: { onWarning: () => undefined },
});

interface Reply {
  readonly state?: string;
  readonly sagaToken?: string;
  readonly steps?: readonly {
    readonly stepId: string;
    readonly type: string;
    readonly params: object;
  }[];
  readonly content?: readonly { readonly text: string }[];
  readonly isError?: boolean;
}

const accepted = { action: 'accept', content: { target: 'prod' } };
const said = { role: 'assistant', model: 'm', content: { type: 'text', text: 'safe' } };
const inMemory = connections[0] as (typeof connections)[number];

describe.each(connections.slice(0, 2))('machine sagas over the wire: $name', ({ connect }) => {
  const connected = connect(host);
  afterAll(async () => (await connected).close());

  const call = async (method: string, params: object): Promise<Reply> => {
    const { client } = await connected;
    const request = client.request.bind(client) as (
      request: object,
      schema: object,
    ) => Promise<unknown>;
    return (await request({ method, params }, z.looseObject({}))) as Reply;
  };
  const start = (name: string, args: object = {}): Promise<Reply> =>
    call('tools/callSaga', { name, arguments: args });
  const resume = (reply: Reply, results: readonly object[]): Promise<Reply> =>
    call('tools/resumeSaga', { sagaToken: reply.sagaToken, completedSteps: results });
  const textOf = (reply: Reply): string | undefined => reply.content?.[0]?.text;

  it('[W1] completes a linear machine', async () => {
    const first = await start('linear', { service: 'web' });
    expect(first.steps).toMatchObject([
      { stepId: 'target', type: 'elicitation', params: { message: 'Where to?' } },
    ]);
    expect(textOf(await resume(first, [{ stepId: 'target', result: accepted }]))).toBe('web prod');
  });

  it('[W1] completes parallel questions, answered one at a time', async () => {
    const first = await start('parallel');
    expect(first.steps?.map(({ stepId }) => stepId)).toEqual(['target', 'model']);
    const second = await resume(first, [{ stepId: 'model', result: said }]);
    expect(second.steps?.map(({ stepId }) => stepId)).toEqual(['target']);
    expect(textOf(await resume(second, [{ stepId: 'target', result: accepted }]))).toBe(
      'both, safe',
    );
  });

  it('[W1] undoes the effects after a decline', async () => {
    undone.length = 0;
    const token = await start('decline');
    // Before the first effect, the client gets a token.
    expect(token.steps).toEqual([]);
    const asked = await resume(token, []);
    const reply = await resume(asked, [
      { stepId: asked.steps?.[0]?.stepId, result: { action: 'decline' } },
    ]);
    expect(reply.isError).toBe(true);
    expect(textOf(reply)).toContain('Nothing was deployed.');
    expect(undone).toEqual(['h1']);
  });

  it('[E6] undoes the effects after a cancellation', async () => {
    undone.length = 0;
    const { sagaToken } = await resume(await start('decline'), []);
    await call('tools/cancelSaga', { sagaToken });
    expect(undone).toEqual(['h1']);
  });

  it('[W1] completes a child machine', async () => {
    const first = await start('child');
    expect(first.steps).toMatchObject([{ stepId: 'inner/target' }]);
    expect(textOf(await resume(first, [{ stepId: 'inner/target', result: accepted }]))).toBe(
      'from the child',
    );
  });

  it('[W1] completes a machine with a delay', async () => {
    const first = await start('after');
    time += 91_001;
    const second = await resume(first, [{ stepId: 'target', result: accepted }]);
    expect(second.steps).toMatchObject([{ stepId: 'boss@2' }]);
    expect(textOf(await resume(second, [{ stepId: 'boss@2', result: accepted }]))).toBe('answered');
  });

  it('[W1] completes a machine with a promise', async () => {
    const reply = await resume(await start('promise'), [{ stepId: 'target', result: accepted }]);
    expect(textOf(reply)).toBe('looked, looked');
  });
});

it('[W1] lists a machine as a tool with its schema', async () => {
  const { client, close } = await inMemory.connect(host);
  const { tools } = (await client.listTools()) as {
    tools: { name: string; inputSchema: object }[];
  };
  expect(tools.find(({ name }) => name === 'linear')?.inputSchema).toMatchObject({
    properties: { service: { type: 'string' } },
  });
  await close();
});
