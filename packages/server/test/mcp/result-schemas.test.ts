/** The result schemas of tools, checked by the clients of both SDKs as they check any tool. */
import {
  elicit,
  saga,
  sample,
  sleep,
  step,
  withJsonSchema,
  type Program,
  type Schema,
  type Steps,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { resultSchemaOf } from '../../src/wire/result-schema.ts';
import { served, toCallResult } from '../fixtures/calling.ts';
import { connections, type Connected, type Connection } from '../fixtures/connections.ts';
import { hostOf, type TestHost } from '../fixtures/host.ts';
import { ask, eras } from '../fixtures/raw.ts';
import { Empty, Target } from '../fixtures/sagas.ts';

const accepting = { answerers: { model: 'accept' } } as const;

const Node: z.ZodType = z.object({
  name: z.string(),
  get children() {
    return z.array(Node);
  },
});
const Named = z.object({ id: z.string() }).meta({ id: 'Named' });

/** Outputs of many forms, each with a value. */
const outputs: readonly (readonly [string, Schema, object])[] = [
  ['flat', z.object({ sum: z.number() }), { sum: 3 }],
  ['empty', Empty, {}],
  ['recursive', Node, { name: 'a', children: [{ name: 'b', children: [] }] }],
  [
    'named',
    z.object({ one: Named, more: z.array(Named) }),
    { one: { id: 'a' }, more: [{ id: 'b' }] },
  ],
  ['with-content', z.object({ content: z.array(z.string()) }), { content: ['a', 'b'] }],
  [
    'choice',
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), node: Node }),
      z.object({ kind: z.literal('b'), named: Named }),
    ]),
    { kind: 'b', named: { id: 'c' } },
  ],
  ['free', z.record(z.string(), z.number()), { any: 1 }],
];

/** A saga that asks, and then returns a value. */
const asking = (name: string, output: Schema, value: unknown): Program =>
  saga({ name, version: '1', output }, function* () {
    yield* elicit('target', { message: 'Where?', schema: Target });
    return value;
  });

const failing = saga(
  { name: 'failing', version: '1', output: z.object({ sum: z.number() }) },
  function* (): Steps<{ sum: number }> {
    yield* step('break', () => {
      throw new Error('broken');
    });
    return { sum: 1 };
  },
);

const resumeWith = (token: string | undefined) => ({
  resumeToken: token,
  answers: { target: { target: 'x' } },
});

describe.each(connections)('$name', ({ connect }) => {
  test.each(outputs)(
    '[W1] accepts the unfinished and the finished result of a tool with the output %s',
    async (name, output, value) => {
      const { host, told } = hostOf(asking(name, output, value), accepting);
      const { client, close } = await connect(host, { capabilities: {} });
      await client.listTools();
      const call = async (args: Record<string, unknown>) =>
        toCallResult(await client.callTool({ name, arguments: args }));
      const first = await call({});
      expect(first.result['structuredContent']).toEqual({
        unfinishedCall: true,
        text: expect.stringContaining(String(first.token)) as string,
      });
      const wrong = await call({ resumeToken: first.token, answers: { target: { other: 1 } } });
      expect(wrong).toMatchObject({ isError: true });
      expect(wrong.result['structuredContent']).toMatchObject({ unfinishedCall: true });
      const last = await call(resumeWith(wrong.token));
      expect(last.result['structuredContent']).toEqual(value);
      expect(last.text).toBe(JSON.stringify(value));
      expect(told.errors).toEqual([]);
      await close();
    },
  );

  test('accepts the error of a failed tool with an output', async () => {
    const { client, close } = await connect(hostOf(failing).host, {});
    await client.listTools();
    const result = await client.callTool({ name: 'failing', arguments: {} });
    expect(result).toMatchObject({ isError: true });
    expect(result).not.toHaveProperty('structuredContent');
    await close();
  });

  test('[W3] accepts a call of a client with forms that ends with a question for the model', async () => {
    const program = saga(
      { name: 'both', version: '1', output: z.object({ said: z.string() }) },
      function* () {
        const { content } = yield* sample('text', { messages: [], maxTokens: 9 });
        return { said: content.type === 'text' ? content.text : '' };
      },
    );
    const { client, close } = await connect(hostOf(program, accepting).host, {
      capabilities: { elicitation: { form: {} } },
    });
    await client.listTools();
    const first = toCallResult(await client.callTool({ name: 'both', arguments: {} }));
    expect(first.result).toMatchObject({ structuredContent: { unfinishedCall: true } });
    const args = { resumeToken: first.token, answers: { text: 'hello' } };
    const last = await client.callTool({ name: 'both', arguments: args });
    expect(last).toMatchObject({ structuredContent: { said: 'hello' } });
    await close();
  });
});

/** A client that cannot be asked. */
async function connectedTo({ host }: TestHost): Promise<Connected> {
  const [{ connect }] = connections as [Connection];
  return await connect(host, { capabilities: {} });
}

test('[W6] an unfinished result shows its whole text in structuredContent', async () => {
  const program = saga(
    { name: 'paging', version: '1', output: z.object({ done: z.boolean() }) },
    function* () {
      yield* sleep('5m');
      return { done: true };
    },
  );
  const { client, close } = await connectedTo(hostOf(program, { limits: { maxHold: 0 } }));
  const { content, structuredContent } = await client.callTool({ name: 'paging', arguments: {} });
  const texts = (content as readonly { readonly text: string }[]).map(({ text }) => text);
  expect(structuredContent).toEqual({ unfinishedCall: true, text: texts.join('\n\n') });
  await close();
});

test('an unfinished result of a tool without an output has no structured content', async () => {
  const plain = saga({ name: 'plain', version: '1' }, function* () {
    yield* elicit('target', { message: 'Where?', schema: Target });
    return 'done';
  });
  const { client, close } = await connectedTo(hostOf(plain, accepting));
  const result = await client.callTool({ name: 'plain', arguments: {} });
  expect(result).toHaveProperty('nextResumeToken');
  expect(result).not.toHaveProperty('structuredContent');
  await close();
});

describe('the listed result schema', () => {
  const Unfinished = {
    description: 'The call is not finished: text says how to continue it.',
    type: 'object',
    properties: { unfinishedCall: { type: 'boolean', const: true }, text: { type: 'string' } },
    required: ['unfinishedCall', 'text'],
  };

  test('is a union of the output and the unfinished call', () => {
    expect(resultSchemaOf(asking('flat', z.object({ sum: z.number() }), {}))).toEqual({
      type: 'object',
      anyOf: [
        {
          type: 'object',
          properties: { sum: { type: 'number' } },
          required: ['sum'],
          additionalProperties: false,
        },
        Unfinished,
      ],
    });
  });

  test('refers to a recursive output by a definition', () => {
    const { $defs, anyOf } = resultSchemaOf(asking('tree', Node, {})) as {
      readonly $defs: object;
      readonly anyOf: readonly unknown[];
    };
    expect(anyOf).toEqual([{ $ref: '#/$defs/Output' }, Unfinished]);
    expect($defs).toMatchObject({
      Output: { properties: { children: { items: { $ref: '#/$defs/Output' } } } },
    });
  });

  /** The schema of an output that is written as JSON Schema by hand. */
  const of = (...written: readonly object[]): unknown => {
    const [newest, ...older] = written.map((json, index) =>
      saga(
        {
          name: 'by-hand',
          version: `${index}`,
          output: withJsonSchema(z.looseObject({}), () => json),
        },
        function* () {
          yield* elicit('go', { message: 'Go?', schema: Empty });
          return {};
        },
      ),
    );
    const previous = older.map((program) => ({ saga: program }));
    return resultSchemaOf({ ...(newest as Program), previous });
  };

  test('keeps references to definitions, parts, and anchors of an output true', () => {
    const json = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'https://shop.test/order',
      type: 'object',
      properties: {
        $ref: { type: 'string', default: { $ref: '#' } },
        a: { $ref: '#/properties/$ref' },
        b: { $ref: '#/$defs/a~1b/properties/c' },
        d: { $ref: 'https://shop.test/order#/$defs/Output' },
        e: { $ref: '#anchored' },
        f: { $id: 'https://shop.test/other', $ref: '#/$defs/own' },
        g: { $ref: 'https://shop.test/order' },
      },
      $defs: {
        'a/b': { properties: { c: { $ref: '#' } }, enum: [{ $ref: '#' }] },
        Output: { $anchor: 'anchored', type: 'string' },
      },
    };
    expect(of(json)).toEqual({
      type: 'object',
      anyOf: [{ $ref: '#/$defs/Output2' }, Unfinished],
      $defs: {
        'a/b': { properties: { c: { $ref: '#/$defs/Output2' } }, enum: [{ $ref: '#' }] },
        Output: { $anchor: 'anchored', type: 'string' },
        Output2: {
          type: 'object',
          properties: {
            $ref: { type: 'string', default: { $ref: '#' } },
            a: { $ref: '#/$defs/Output2/properties/$ref' },
            b: { $ref: '#/$defs/a~1b/properties/c' },
            d: { $ref: '#/$defs/Output' },
            e: { $ref: '#anchored' },
            f: { $id: 'https://shop.test/other', $ref: '#/$defs/own' },
            g: { $ref: '#/$defs/Output2' },
          },
        },
      },
    });
  });

  test('has the outputs of older versions, each once, with definitions of their own', () => {
    const one = { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: {} } };
    const two = { ...one, $defs: { A: { type: 'string' } } };
    expect(of(one, two, one)).toEqual({
      type: 'object',
      anyOf: [
        { type: 'object', properties: { a: { $ref: '#/$defs/A' } } },
        { type: 'object', properties: { a: { $ref: '#/$defs/A2' } } },
        Unfinished,
      ],
      $defs: { A: {}, A2: { type: 'string' } },
    });
  });

  test('cannot be taken for an output: its constant is a reserved field', () => {
    const output = z.object({ unfinishedCall: z.boolean() });
    expect(() => hostOf(asking('taking', output, {}))).toThrow(
      "Saga 'taking', output: the field 'unfinishedCall' is reserved",
    );
  });
});

describe('a tool with suspends: false', () => {
  const once = (body: () => Steps<{ sum: number }>, options: object = {}): Program =>
    saga(
      {
        name: 'once',
        version: '2',
        suspends: false,
        output: z.object({ sum: z.number() }),
        ...options,
      },
      body,
    );
  const adds = function* (): Steps<{ sum: number }> {
    yield* step('add', () => 1);
    return { sum: 3 };
  };

  test.each(eras)('[W6] lists neither resumeToken nor an unfinished call: %s', async (era) => {
    const { server } = served([once(adds)], accepting);
    const { last } = await ask(server, era, 'tools/list', {});
    expect(last.result?.['tools']).toMatchObject([
      {
        inputSchema: { type: 'object', properties: {} },
        outputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
      },
    ]);
    expect(JSON.stringify(last)).not.toMatch(/resumeToken|unfinishedCall/);
  });

  test('lists both while an older version, which may suspend, is served', async () => {
    const old = asking('once', z.object({ sum: z.number() }), { sum: 1 });
    const { server } = served([once(adds, { previous: [{ saga: old }] })], accepting);
    const { last } = await ask(server, 'modern', 'tools/list', {});
    expect(JSON.stringify(last)).toMatch(/resumeToken.*unfinishedCall/);
  });

  test('continues a call of an older version by its token, and asks it again', async () => {
    const old = asking('once', z.object({ sum: z.number() }), { sum: 1 });
    const { server } = served([old], accepting);
    const { server: newer } = served([once(adds, { previous: [{ saga: old }] })], accepting);
    const call = async (at: typeof server, args: object) =>
      toCallResult(
        (await ask(at, 'legacy', 'tools/call', { name: 'once', arguments: args })).last.result ??
          {},
      );
    const first = await call(server, {});
    const again = await call(newer, { resumeToken: first.token });
    expect(again.text).toContain('Step "target"');
    expect((await call(newer, resumeWith(again.token))).result).toMatchObject({
      structuredContent: { sum: 1 },
    });
    expect((await call(newer, {})).result).toMatchObject({ structuredContent: { sum: 3 } });
  });

  describe.each(connections)('$name', ({ connect }) => {
    test('[W6] completes within one call, after retries that wait longer than a call is held', async () => {
      let tries = 0;
      const waited: number[] = [];
      const { host, clock } = hostOf(
        once(function* () {
          yield* step(
            'flaky',
            () => {
              tries += 1;
              if (tries < 3) throw new Error('down');
            },
            { retry: { attempts: 3, delay: '40s', maxDelay: '40s', jitter: false } },
          );
          return { sum: tries };
        }),
        {
          testing: {
            sleep: async (ms) => {
              waited.push(ms);
              clock.now += ms;
            },
          },
        },
      );
      const { client, close } = await connect(host, {});
      await client.listTools();
      const result = await client.callTool({ name: 'once', arguments: {} });
      expect(result).toMatchObject({ structuredContent: { sum: 3 } });
      expect(waited.reduce((sum, ms) => sum + ms, 0)).toBe(80_000);
      await close();
    });

    test('[W6] fails if its saga asks, undoes what was done, and tells the author', async () => {
      const undone: string[] = [];
      const program = once(
        function* () {
          yield* step('charge', () => 'paid', {
            compensate: ({ result }) => void undone.push(result),
          });
          yield* elicit('target', { message: 'Where?', schema: Target });
          return { sum: 1 };
        },
        { reuse: 'ok' },
      );
      const { host, told } = hostOf(program);
      const { client, close } = await connect(host, {});
      await client.listTools();
      const result = toCallResult(await client.callTool({ name: 'once', arguments: {} }));
      expect(result).toMatchObject({ isError: true, token: undefined });
      expect(result.text).toContain("Undone: 'charge'");
      expect(undone).toEqual(['paid']);
      expect(told.turns.at(-1)).toMatchObject({ status: 'failed' });
      await close();
    });
  });
});

type Either = z.ZodUnion<readonly z.ZodObject[]>;

test.each(eras)(
  '[T14] resumeToken and answers take at most 250 bytes of a listed tool: %s',
  async (era) => {
    const inputOf = async (input: z.ZodObject | Either, options: object): Promise<string> => {
      const program = saga(
        { name: 'sized', version: '1', input: input as typeof Target, ...options },
        function* () {
          yield* step('read', () => 1);
          return 'done';
        },
      );
      const { server } = served([program], accepting);
      const { last } = await ask(server, era, 'tools/list', {});
      const tools = last.result?.['tools'] as readonly { readonly inputSchema: object }[];
      return JSON.stringify(tools[0]?.inputSchema);
    };
    const bytesOf = async (input: z.ZodObject | Either): Promise<number> =>
      (await inputOf(input, {})).length - (await inputOf(input, { suspends: false })).length;
    const fields = [{ kind: z.literal('a') }, { kind: z.literal('b') }] as const;
    const either = (branch: (shape: object) => z.ZodObject): Either =>
      z.union([branch(fields[0]), branch(fields[1])]);
    for (const input of [Target, either((shape) => z.object({ ...shape }))]) {
      const bytes = await bytesOf(input);
      expect(bytes).toBeGreaterThan(100);
      expect(bytes).toBeLessThanOrEqual(250);
    }
    // Each closed variant has to allow the two fields.
    const closed = either((shape) => z.strictObject({ ...shape }));
    expect(await bytesOf(closed)).toBeLessThanOrEqual(250 + 2 * 30);
  },
);
