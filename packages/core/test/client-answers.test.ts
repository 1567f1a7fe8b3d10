import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { elicit, listRoots, sample, type Json } from '../src/index.ts';
import type { Command } from '../src/model/command.ts';
import { answered, completed, start, suspended, turn } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';

/** Asks once, and gives what the body got, or why the answer was not accepted. */
async function answeredBy(
  make: () => Command<unknown>,
  result: Json,
): Promise<{ readonly got?: unknown; readonly refused?: string | undefined }> {
  const seen: unknown[] = [];
  const program = sagaOf(function* () {
    seen.push(yield* make());
    return 'done';
  });
  const { state } = suspended(await start(program));
  const outcome = await turn(program, state, { q: answered(result) });
  if (outcome.status === 'suspended') return { refused: outcome.steps[0]?.reason };
  completed(outcome);
  return { got: seen.at(-1) };
}

const form = (fields: z.ZodRawShape) => (): Command<unknown> =>
  elicit('q', { message: 'm', schema: z.object(fields) as z.ZodObject<Record<string, never>> });

const none = { action: 'accept' };
const filled = (content: Json): Json => ({ action: 'accept', content });

describe('an accepted form', () => {
  it.each<[string, z.ZodRawShape, Json, unknown]>([
    ['without content, for no fields', {}, none, {}],
    ['without content, for an optional field', { note: z.string().optional() }, none, {}],
    ['without content, for a default', { n: z.int().default(3) }, none, { n: 3 }],
    ['with null as its content', { n: z.int().optional() }, filled(null), {}],
    ['with other members', {}, { ...none, _meta: { a: 1 }, 'x/y': [] }, {}],
    ['with a blank number', { n: z.number().optional() }, filled({ n: '' }), {}],
    ['with a blank default', { n: z.number().default(3) }, filled({ n: '' }), { n: 3 }],
    ['with a blank choice', { size: z.enum(['s', 'm']).optional() }, filled({ size: '' }), {}],
    ['with a blank address', { mail: z.email().optional() }, filled({ mail: '' }), {}],
    [
      'with a blank list',
      {
        c: z
          .array(z.enum(['a']))
          .min(1)
          .optional(),
      },
      filled({ c: [] }),
      {},
    ],
    ['with null for a field', { sure: z.boolean().optional() }, filled({ sure: null }), {}],
    ['with a blank text', { note: z.string().optional() }, filled({ note: '' }), { note: '' }],
    [
      'with a blank text beside a blank number',
      { note: z.string().optional(), n: z.number().optional() },
      filled({ note: '', n: '' }),
      { note: '' },
    ],
  ])('[W4] counts %s', async (_, fields, result, got) => {
    expect(await answeredBy(form(fields), result)).toEqual({ got });
  });

  it('[W4] counts with blank fields that the schema refuses one after the other', async () => {
    const fields = { a: z.string().optional(), b: z.string().optional() };
    const refuses = z.object(fields).superRefine((value, context) => {
      for (const name of ['a', 'b'] as const) {
        if (value[name] !== '') continue;
        context.addIssue({ code: 'custom', message: 'empty', path: [name] });
        return;
      }
    });
    const ask = (): Command<unknown> => elicit('q', { message: 'm', schema: refuses });
    expect(await answeredBy(ask, filled({ a: '', b: '' }))).toEqual({ got: {} });
  });

  it.each<[string, z.ZodRawShape, Json, string]>([
    ['a missing content', { name: z.string() }, none, 'name: '],
    ['a missing field', { name: z.string() }, filled({}), 'name: '],
    ['a blank required field', { name: z.string().min(1) }, filled({ name: '' }), 'name: '],
    ['a blank required number', { n: z.number() }, filled({ n: '' }), 'n: '],
    ['a wrong optional field', { n: z.number().optional() }, filled({ n: 'x' }), 'n: '],
    [
      'a wrong field beside a blank',
      { n: z.int(), m: z.int().optional() },
      filled({ m: '' }),
      'n: ',
    ],
    ['a list as its content', {}, filled([]), 'content: '],
    ['another action', {}, { action: 'yes' }, 'action: '],
  ])('[W4] is refused for %s, by name', async (_, fields, result, reason) => {
    const { refused } = await answeredBy(form(fields), result);
    expect(refused).toMatch(new RegExp(`^${reason}`));
  });
});

describe('a sampled message', () => {
  const ask = (): Command<unknown> => sample('q', { messages: [], maxTokens: 9 });
  const text = (word: string): { readonly type: 'text'; readonly text: string } => ({
    type: 'text',
    text: word,
  });
  const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' } as const;
  const use = { type: 'tool_use', id: '1', name: 'look', input: {} } as const;
  const of = (content: Json, more: object = {}): Json => ({
    role: 'assistant',
    model: 'm',
    content,
    ...more,
  });

  it.each<[string, Json, object]>([
    ['one block', text('a'), { content: text('a') }],
    ['an image', image, { content: image }],
    ['a list of one block', [text('a')], { content: text('a'), blocks: [text('a')] }],
    [
      'several blocks',
      [text('a'), image, text('b')],
      { content: text('ab'), blocks: [text('a'), image, text('b')] },
    ],
    ['blocks without text', [use, image], { content: image, blocks: [use, image] }],
    ['a call of a tool', use, { content: text(''), blocks: [use] }],
    [
      'a result of a tool',
      { type: 'tool_result', toolUseId: '1', content: [] },
      { content: text(''), blocks: [{ type: 'tool_result', toolUseId: '1', content: [] }] },
    ],
    [
      'a result of a tool without content',
      [{ type: 'tool_result', toolUseId: '1' }],
      { content: text(''), blocks: [{ type: 'tool_result', toolUseId: '1' }] },
    ],
    ['no block', [], { content: text(''), blocks: [] }],
  ])('[W4] of %s reaches the body as one block', async (_, content, got) => {
    expect(await answeredBy(ask, of(content))).toEqual({
      got: { role: 'assistant', model: 'm', ...got },
    });
  });

  it('[W4] keeps other members of the result, except for one named `blocks`', async () => {
    const result = of(text('a'), { stopReason: 'mine', 'x/y': 1, blocks: 'fake' });
    expect(await answeredBy(ask, result)).toEqual({
      got: { role: 'assistant', model: 'm', content: text('a'), stopReason: 'mine', 'x/y': 1 },
    });
  });

  it.each<[string, Json, string]>([
    ['no content', null, 'content: '],
    ['a string', 'hi', 'content: '],
    ['a block of another type', { type: 'video' }, 'content.type: '],
    ['a block of an inherited type', { type: 'constructor' }, 'content.type: '],
    ['an image without a type', { type: 'image', data: '' }, 'content.mimeType: '],
    ['a bad block in a list', [text('a'), { type: 'text' }], 'content[1].text: '],
    ['a list in a list', [[text('a')]], 'content[0]: '],
    ['a call without arguments', { ...use, input: [] }, 'content.input: '],
  ])('[W4] is refused for %s, by place', async (_, content, place) => {
    const { refused } = await answeredBy(ask, of(content));
    expect(refused?.startsWith(place)).toBe(true);
  });
});

describe('a list of roots', () => {
  const ask = (): Command<unknown> => listRoots('q');

  it.each<[string, Json]>([
    ['no root', []],
    ['a root without a name', [{ uri: 'file:///a' }]],
    ['other members', [{ uri: 'file:///a', name: 'a', _meta: { b: 1 } }]],
  ])('[W4] counts with %s', async (_, roots) => {
    expect(await answeredBy(ask, { roots, _meta: {} })).toEqual({ got: roots });
  });

  it.each<[string, Json, string]>([
    ['a missing list', {}, 'roots: '],
    ['a root without a URI', { roots: [{ uri: 'file:///a' }, {}] }, 'roots[1].uri: '],
    ['a name that is no string', { roots: [{ uri: 'file:///a', name: 1 }] }, 'roots[0].name: '],
  ])('[W4] is refused for %s, by place', async (_, result, place) => {
    const { refused } = await answeredBy(ask, result);
    expect(refused?.startsWith(place)).toBe(true);
  });
});
