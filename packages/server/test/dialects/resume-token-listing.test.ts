import {
  memoryStore,
  elicit,
  saga,
  type Answerer,
  type SagaHostOptions,
  type Schema,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { served } from '../fixtures/calling.ts';
import { connections } from '../fixtures/connections.ts';
import { hostOf } from '../fixtures/host.ts';
import { ask, eras, type Era } from '../fixtures/raw.ts';
import { Empty } from '../fixtures/sagas.ts';

interface Tool {
  readonly name: string;
  readonly inputSchema: {
    readonly properties?: object;
    readonly required?: readonly string[];
    readonly anyOf?: readonly { readonly properties?: object }[];
  };
  readonly outputSchema?: object;
}

function taking<I extends Schema>(input: I, name = 'taking', answeredBy?: readonly Answerer[]) {
  return saga(
    {
      name,
      version: '1',
      input,
      output: z.object({ ok: z.boolean() }),
      ...(answeredBy === undefined ? {} : { answeredBy }),
    },
    function* () {
      yield* elicit('go', { message: 'Go?', schema: Empty });
      return { ok: true };
    },
  );
}

async function listed(
  era: Era,
  sagas: SagaHostOptions['sagas'],
  {
    capabilities = {},
    ...options
  }: Pick<SagaHostOptions, 'answerers' | 'store'> & { readonly capabilities?: object } = {},
): Promise<readonly Tool[]> {
  const { server } = served(sagas, options);
  const meta = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
  const { last } = await ask(server, era, 'tools/list', era === 'modern' ? { _meta: meta } : {});
  return last.result?.['tools'] as readonly Tool[];
}

describe.each(eras)('%s, listed for a client without capabilities', (era) => {
  test('[T14] a tool accepts resumeToken, and declares that its result may be unfinished', async () => {
    const [tool] = await listed(era, [taking(z.strictObject({ a: z.string() }))]);
    expect(tool?.outputSchema).toMatchObject({
      type: 'object',
      anyOf: [
        { properties: { ok: { type: 'boolean' } } },
        { properties: { unfinishedCall: { const: true }, text: { type: 'string' } } },
      ],
    });
    expect(tool?.inputSchema).toMatchObject({
      type: 'object',
      properties: {
        a: { type: 'string' },
        resumeToken: { type: 'string', description: expect.any(String) },
      },
      required: ['a'],
      additionalProperties: false,
    });
    expect(tool?.inputSchema.properties).not.toHaveProperty('answers');
  });

  test('[T14] lists `answers` if the host accepts answers of models, because a question may name the model', async () => {
    const sagas = [taking(Empty, 'one'), taking(Empty, 'two', ['client'])];
    const has = (tools: readonly Tool[]): readonly boolean[] =>
      tools.map(({ inputSchema }) => 'answers' in (inputSchema.properties ?? {}));
    expect(has(await listed(era, sagas))).toEqual([false, false]);
    expect(has(await listed(era, sagas, { answerers: { model: 'accept' } }))).toEqual([true, true]);
    const [tool] = await listed(era, sagas, { answerers: { model: 'accept' } });
    expect(tool?.inputSchema.required ?? []).toEqual([]);
    // A schema of free keys is refused by clients with strict schemas.
    const answers = { type: 'string', description: expect.any(String) as string };
    expect(tool?.inputSchema.properties).toMatchObject({ answers });
    expect(JSON.stringify(tool?.inputSchema.properties)).not.toContain('additionalProperties');
  });

  test('[T14] a union has it at its root, and in members without additional properties', async () => {
    const union = z.union([z.strictObject({ a: z.string() }), z.object({ b: z.string() })]);
    const [tool] = await listed(era, [taking(union)]);
    const added = { resumeToken: { type: 'string' } };
    expect(tool?.inputSchema).toMatchObject({
      properties: added,
      anyOf: [
        { properties: { a: { type: 'string' }, resumeToken: {} }, additionalProperties: false },
        { properties: { b: { type: 'string' } } },
      ],
    });
    expect(tool?.inputSchema.anyOf?.[1]?.properties).not.toHaveProperty('resumeToken');
  });

  test('a tool without arguments accepts it as well', async () => {
    const plain = saga({ name: 'plain', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Empty });
      return '';
    });
    const [tool] = await listed(era, [plain]);
    expect(tool?.inputSchema).toMatchObject({
      type: 'object',
      properties: { resumeToken: { type: 'string' } },
    });
  });
});

describe.each(connections)('$name', ({ connect }) => {
  test('a listed tool shows a field with `.catch` as optional, and without a default', async () => {
    const input = z.object({
      caught: z.string().catch('x'),
      own: z.string().default('d').catch('x'),
      outer: z.string().catch('x').default('d'),
      plain: z.string(),
    });
    const { client, close } = await connect(hostOf(taking(input)).host, {});
    const { tools } = await client.listTools();
    expect(tools[0]?.inputSchema).toMatchObject({ required: ['plain'] });
    const properties: unknown = tools[0]?.inputSchema.properties;
    const defaulted = { type: 'string', default: 'd' };
    expect(properties).toMatchObject({ own: defaulted, outer: defaulted });
    expect(properties).toHaveProperty('caught', { type: 'string' });
    await close();
  });

  test('no schema of a listed tool has the keyword $schema', async () => {
    const sagas = [
      taking(z.object({ a: z.string() }), 'formed'),
      saga({ name: 'plain', version: '1' }, function* () {
        yield* elicit('go', { message: 'Go?', schema: Empty });
        return '';
      }),
      saga(
        { name: 'tasked', version: '1', task: 'require', output: z.object({ ok: z.boolean() }) },
        function* () {
          yield* elicit('go', { message: 'Go?', schema: Empty });
          return { ok: true };
        },
      ),
    ];
    const { client, close } = await connect(hostOf(sagas, { store: memoryStore() }).host, {});
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['formed', 'plain', 'tasked']);
    expect(tools.some(({ outputSchema }) => outputSchema !== undefined)).toBe(true);
    expect(JSON.stringify(tools)).not.toContain('$schema');
    await close();
  });
});

test('[T14] [W2] a tool has the same schema for every client, because any call may end with a token', async () => {
  const sagas = [taking(z.object({ a: z.string() }))];
  const declared = [
    {},
    { elicitation: {} },
    { elicitation: { url: {} }, sampling: {} },
    { roots: {} },
  ];
  const lists = await Promise.all(
    declared.map((capabilities) =>
      listed('modern', sagas, { capabilities, answerers: { model: 'accept' } }),
    ),
  );
  expect(Object.keys(lists[0]?.[0]?.inputSchema.properties ?? {})).toEqual([
    'a',
    'resumeToken',
    'answers',
  ]);
  for (const list of lists) expect(list).toEqual(lists[0]);
});

test('[T14] a tool that requires a task is listed without resumeToken', async () => {
  const options = {
    name: 'tasked',
    version: '1',
    task: 'require',
    output: z.object({ ok: z.boolean() }),
  } as const;
  const program = saga(options, function* () {
    yield* elicit('go', { message: 'Go?', schema: Empty });
    return { ok: true };
  });
  const [tool] = await listed('modern', [program], {
    store: memoryStore({ olderTokens: 'accept' }),
  });
  expect(tool?.inputSchema.properties ?? {}).not.toHaveProperty('resumeToken');
  expect(tool?.outputSchema).toMatchObject({ properties: { ok: { type: 'boolean' } } });
});

test.each(connections)(
  '[T14] $name: the listing does not depend on declared capabilities',
  async ({ connect }) => {
    const { host } = hostOf(taking(z.object({ a: z.string() })), {
      answerers: { model: 'accept' },
    });
    const fieldsFor = async (options: object): Promise<readonly string[]> => {
      const { client, close } = await connect(host, options);
      const { tools } = await client.listTools();
      await close();
      return Object.keys(tools[0]?.inputSchema.properties ?? {});
    };
    const all = ['a', 'resumeToken', 'answers'];
    expect(await fieldsFor({ capabilities: {} })).toEqual(all);
    expect(await fieldsFor({})).toEqual(all);
  },
);
