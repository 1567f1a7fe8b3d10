import {
  elicit,
  elicitUrl,
  listRoots,
  memoryStore,
  saga,
  sample,
  type ElicitationRefused,
  type Saga,
  type SampleResult,
} from '@mcp-saga/server';
import type { Root } from '@mcp-saga/server/internal';
import { testHost } from '@mcp-saga/testing';
import {
  CreateMessageResultWithToolsSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { specTypeSchemas } from '@modelcontextprotocol/server';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { valueOf, type JsonSchema } from '../support/json-schema-arbitrary.ts';
import type { Fields } from '../support/wire/channel.ts';
import { SdkChannel } from '../support/wire/sdk-channel.ts';
import { RawClient } from '../support/wire/wire-client.ts';
import { capabilitiesOf, wireWays, type WireEra, type WireWay } from '../support/wire/ways.ts';

interface ResultSchemas {
  readonly elicitation: JsonSchema;
  readonly sampling: JsonSchema;
  readonly roots: JsonSchema;
}

/** The schemas of results that the SDK for each version of MCP publishes, as JSON Schema. */
const resultSchemas: { readonly [era in WireEra]: ResultSchemas } = {
  '2025-11-25': {
    elicitation: z.toJSONSchema(ElicitResultSchema, { io: 'input' }) as JsonSchema,
    sampling: z.toJSONSchema(CreateMessageResultWithToolsSchema, { io: 'input' }) as JsonSchema,
    roots: z.toJSONSchema(ListRootsResultSchema, { io: 'input' }) as JsonSchema,
  },
  '2026-07-28': {
    elicitation: published(specTypeSchemas.ElicitResult),
    sampling: published(specTypeSchemas.CreateMessageResultWithTools),
    roots: published(specTypeSchemas.ListRootsResult),
  },
};

function published(schema: { readonly '~standard': object }): JsonSchema {
  const { jsonSchema } = schema['~standard'] as {
    readonly jsonSchema: { readonly input: (options: object) => object };
  };
  return jsonSchema.input({ target: 'draft-2020-12' });
}

/** Fields of every kind. All of them refuse an empty string. */
const fields = {
  name: z.string().min(1),
  mail: z.email(),
  size: z.enum(['s', 'm']),
  colors: z.array(z.enum(['red', 'blue'])).min(1),
  count: z.int().min(0).max(9),
  price: z.number(),
  sure: z.boolean(),
  born: z.iso.date(),
};

const form: fc.Arbitrary<z.ZodObject> = fc
  .dictionary(
    fc.constantFrom(...(Object.keys(fields) as (keyof typeof fields)[])),
    fc.constantFrom('required', 'optional'),
    { maxKeys: 4 },
  )
  .map((kinds) =>
    z.object(
      Object.fromEntries(
        Object.entries(kinds).map(([name, kind]) => {
          const field: z.ZodType = fields[name as keyof typeof fields];
          return [name, kind === 'optional' ? field.optional() : field];
        }),
      ),
    ),
  );

interface Answers {
  readonly form: Fields;
  readonly page: Fields;
  readonly model: Fields;
  readonly roots: Fields;
}

/** A form, and every valid answer to it, to a link, to a sample, and to a question for roots. */
function casesOf(era: WireEra): fc.Arbitrary<readonly [z.ZodObject, Answers]> {
  const { elicitation, sampling, roots } = resultSchemas[era];
  return form.chain((schema) => {
    const content = z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;
    const { required = [] } = content;
    const blanks = Object.keys(schema.shape).filter((name) => !required.includes(name));
    // Some clients send an empty string for each optional field that the user left empty.
    const filled = fc.tuple(valueOf(content), fc.subarray(blanks)).map(([given, empty]) => ({
      ...(given as Fields),
      ...Object.fromEntries(empty.map((name) => [name, ''])),
    }));
    const accepted = fc.record(
      { action: fc.constant('accept'), content: filled },
      // Without required fields, no content is needed.
      { requiredKeys: required.length === 0 ? ['action'] : ['action', 'content'] },
    );
    const answer = fc
      .tuple(valueOf(elicitation), accepted)
      .map(([any, own]) =>
        (any as Fields)['action'] === 'accept'
          ? { ...omit(any as Fields, 'content'), ...own }
          : any,
      );
    return fc
      .record({
        form: answer as fc.Arbitrary<Fields>,
        page: valueOf(elicitation) as fc.Arbitrary<Fields>,
        model: valueOf(sampling) as fc.Arbitrary<Fields>,
        roots: valueOf(roots) as fc.Arbitrary<Fields>,
      })
      .map((answers) => [schema, answers] as const);
  });
}

function omit(value: Fields, name: string): Fields {
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));
}

/** What the body of the saga saw. */
interface Seen {
  form?: object;
  page?: string;
  model?: SampleResult;
  roots?: readonly Root[];
}

/** A saga that asks everything that its client can answer. */
function asksAll(
  schema: z.ZodObject,
  seen: Seen,
  { dialect }: WireWay,
): Saga<undefined, undefined> {
  return saga(
    { name: 'asks', version: '1', answeredBy: ['client', 'model', 'fallback'] },
    function* () {
      const flat = schema as z.ZodObject<Record<string, z.ZodString>>;
      seen.form = yield* elicit.outcome('form', { message: 'Form?', schema: flat });
      try {
        yield* elicitUrl('page', { message: 'Page?', url: 'https://shop.example/page' });
        seen.page = 'accept';
      } catch (error) {
        seen.page = (error as ElicitationRefused).action;
      }
      const messages = [{ role: 'user', content: { type: 'text', text: 'Hi.' } }] as const;
      seen.model = yield* sample('model', { messages, maxTokens: 9 });
      // No model can answer a question for roots.
      if (dialect !== 'resume token') seen.roots = yield* listRoots('roots');
      return 'done';
    },
  );
}

/** Drives the saga to its end. Throws if a question is repeated: its answer was not accepted. */
async function answered(way: WireWay, schema: z.ZodObject, answers: Answers): Promise<Seen> {
  const seen: Seen = {};
  const host = testHost({
    sagas: [asksAll(schema, seen, way)],
    answerers: { model: 'accept' },
    anonymous: { tasks: 'accept', resumableRequests: 'accept' },
    store: memoryStore(),
  });
  const { dialect, era } = way;
  const inSession =
    dialect === 'push' || (dialect === 'resumable requests' && era === '2025-11-25');
  const capabilities = capabilitiesOf(way);
  const asked = new Set<string>();
  const client = new RawClient(way, {
    channel: new SdkChannel({ host, era, user: undefined, capabilities, inSession }),
    answerer: {
      answer: async ({ method, params }) => {
        const question = questionOf(method, params as Fields);
        if (asked.has(question)) throw new Error(`Asked again: ${JSON.stringify(params)}`);
        asked.add(question);
        return answers[question];
      },
    },
    wait: (ms) => host.clock.sleep(ms),
  });
  const { content } = await client.call('asks');
  expect(content).toEqual([{ type: 'text', text: 'done' }]);
  await client.close();
  await host.close();
  return seen;
}

function questionOf(method: string, { mode }: Fields): keyof Answers {
  if (method === 'elicitation/create') return mode === 'url' ? 'page' : 'form';
  return method === 'roots/list' ? 'roots' : 'model';
}

describe.each(wireWays)('an answer to a saga, by $dialect of MCP $era,', (way) => {
  it('[W1] [W4] counts in every form that the published schemas allow', async () => {
    await fc.assert(
      fc.asyncProperty(casesOf(way.era), async ([schema, answers]) => {
        const seen = await answered(way, schema, answers);
        const { action, content = {} } = answers.form as { action: string; content?: Fields };
        const filled = Object.entries(content).filter(([, value]) => value !== '');
        expect(seen.form).toEqual(
          action === 'accept'
            ? { action, content: schema.parse(Object.fromEntries(filled)) }
            : { action },
        );
        expect(seen.page).toBe(answers.page['action']);
        const { content: message, blocks = message, model } = seen.model ?? {};
        expect(message?.type).toMatch(/^(?:text|image|audio)$/);
        expect({ content: blocks, model }).toEqual({
          content:
            message === blocks ? answers.model['content'] : [answers.model['content']].flat(),
          model: answers.model['model'],
        });
        if (way.dialect !== 'resume token') expect(seen.roots).toEqual(answers.roots['roots']);
      }),
      { numRuns: 25 },
    );
  });
});
