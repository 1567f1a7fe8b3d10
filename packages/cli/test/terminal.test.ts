import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { SagaStep } from '@mcp-saga/client';
import { describe, expect, it } from 'vitest';
import type { Tool } from '@modelcontextprotocol/client';
import { answering } from '../src/calling/answer.ts';
import { askArguments } from '../src/calling/ask-arguments.ts';
import type { CommandIo } from '../src/model/command.ts';
import { askForm, type FormContent } from '../src/terminal/form.ts';
import { askPerson } from '../src/terminal/person.ts';
import { RunLeft, type Terminal } from '../src/terminal/prompter.ts';

const enter = '\r';
const escape = '\u001B';
const up = '\u001B[A';
const down = '\u001B[B';
const clear = '\u0015';

/** A terminal where `typed` is typed, one entry each time something was drawn. */
function typing(...typed: readonly string[]): { terminal: Terminal; shown: () => string } {
  const input = new PassThrough();
  const output = new PassThrough({ encoding: 'utf8' });
  const left = [...typed];
  let shown = '';
  let draws = 0;
  output.on('data', (text: string) => {
    shown += text;
    draws += 1;
    const draw = draws;
    // After everything that is drawn at once.
    setImmediate(() => {
      const next = draw === draws ? left.shift() : undefined;
      if (next !== undefined) input.write(next);
    });
  });
  return { terminal: { input, output }, shown: () => stripVTControlCharacters(shown) };
}

type FormSchema = Parameters<typeof askForm>[0];
type Fields = FormSchema['properties'];

const form = (properties: Fields, ...required: readonly string[]): FormSchema => ({
  type: 'object',
  properties,
  required: [...required],
});

const step = (schema: FormSchema) =>
  ({
    type: 'elicitation',
    stepId: 's',
    params: { message: 'm', requestedSchema: schema },
  }) as const;

const fill = async (schema: FormSchema, ...typed: readonly string[]): Promise<FormContent> =>
  await askForm(schema, typing(...typed).terminal);

describe('missing arguments of a tool', () => {
  const ask = async (properties: object, ...typed: readonly string[]) => {
    const { terminal, shown } = typing(...typed);
    const notes: string[] = [];
    const io = { ...terminal, note: (text: string) => notes.push(text) } as unknown as CommandIo;
    const inputSchema = { type: 'object', properties } as Tool['inputSchema'];
    const given = await askArguments({ name: 't', inputSchema }, Object.keys(properties), io);
    return { given, notes, shown: shown() };
  };

  it('are asked for in fields of their types, and noted as options', async () => {
    const { given, notes } = await ask(
      {
        count: { type: 'integer' },
        size: { type: 'string', enum: ['small', 'large'] },
        id: { type: 'string', format: 'uuid' },
        name: { type: 'string' },
      },
      `2${enter}`,
      `${down}${enter}`,
      `9${enter}`,
      `it's me${enter}`,
    );
    expect(given).toEqual({ count: 2, size: 'large', id: '9', name: "it's me" });
    expect(notes.at(-1)).toBe(
      "Given: --arg count=2 --arg size=large --arg id=9 --arg 'name=it'\\''s me'",
    );
  });

  it('are asked for as JSON if no field of a form fits', async () => {
    const { given, shown } = await ask(
      { where: { type: 'object', description: 'Address' }, note: { type: ['string', 'null'] } },
      `{"city":"Bonn"}${enter}`,
      `12${enter}`,
    );
    expect(given).toEqual({ where: { city: 'Bonn' }, note: '12' });
    expect(shown).toContain('where: Address, JSON');
  });

  it('are shown without characters that nobody sees', async () => {
    const { shown } = await ask({ a: { type: 'string', description: 'x\u202Ey' } }, `1${enter}`);
    expect(shown).toContain(String.raw`x\u202ey`);
  });
});

describe('answers from options', () => {
  it('are used by any of the questions that a tool call shows under one name', async () => {
    const io = { isInteractive: false, note: () => undefined } as unknown as CommandIo;
    const answers = new Map([
      ['sure', 'true'],
      ['city', 'Bonn'],
    ]);
    const given = { answers, declined: new Set<string>(), model: undefined, yes: false };
    const { answer, unused } = answering(given, io);
    for (const requestedSchema of [
      form({ sure: { type: 'boolean' } }, 'sure'),
      form({ city: { type: 'string' } }, 'city'),
    ])
      await answer({
        type: 'elicitation',
        stepId: 'elicitation',
        params: { message: 'Next?', requestedSchema },
      });
    expect(unused()).toBe(undefined);
  });

  const none = {
    answers: new Map<string, string>(),
    declined: new Set<string>(),
    model: undefined,
  };

  it('accept an optional field only with its own default', async () => {
    const io = { isInteractive: false, note: () => undefined } as unknown as CommandIo;
    const schema = form(
      {
        sure: { type: 'boolean' },
        gift: { type: 'boolean' },
        size: { type: 'string', enum: ['S', 'M'] },
        color: { type: 'string', default: 'red' },
      },
      'sure',
    );
    const { result } = await answering({ ...none, yes: true }, io).answer(step(schema));
    expect(result).toEqual({ action: 'accept', content: { sure: true, color: 'red' } });
  });

  it('that do not suffice are shown to the person', async () => {
    const { terminal } = typing(enter, 'Berlin', enter, 'y');
    const io = { ...terminal, isInteractive: true, note: () => undefined } as unknown as CommandIo;
    const schema = form({ name: { type: 'string' }, city: { type: 'string' } }, 'name', 'city');
    const given = { ...none, answers: new Map([['name', 'Ada']]), yes: false };
    const { result } = await answering(given, io).answer(step(schema));
    expect(result).toEqual({ action: 'accept', content: { name: 'Ada', city: 'Berlin' } });
  });

  it('that do not suffice without a terminal are not asked for again', async () => {
    const io = { isInteractive: false, note: () => undefined } as unknown as CommandIo;
    const schema = form({ name: { type: 'string' }, city: { type: 'string' } }, 'name', 'city');
    const given = { ...none, answers: new Map([['name', 'Ada']]), yes: false };
    const asked = await answering(given, io)
      .answer(step(schema))
      .catch((error: unknown) => error);
    expect(asked).toMatchObject({ code: 'question_unanswered' });
    expect(String(asked)).toContain('--answer city=');
    expect(String(asked)).not.toContain('--answer name=');
  });
});

describe('a question at a terminal', () => {
  it('shows characters that nobody sees, and answers with the values themselves', async () => {
    const hostile = 'Pay \u202e01 €\u202c\u200b\u001b[2J';
    const { terminal, shown } = typing(enter, 'y');
    const io = { isInteractive: true, note: () => undefined, ...terminal } as unknown as CommandIo;
    const given = { answers: new Map(), declined: new Set<string>(), model: undefined, yes: false };
    const requestedSchema = form(
      { field: { type: 'string', title: hostile, enum: [hostile] } },
      'field',
    );
    const answer = await answering(given, io).answer({
      type: 'elicitation',
      stepId: 'elicitation',
      params: { message: hostile, requestedSchema },
    });
    expect(answer).toMatchObject({ result: { action: 'accept', content: { field: hostile } } });
    expect(shown()).toContain('Pay \\u202e01 €');
    expect(shown()).not.toMatch(/[\u202e\u202c\u200b]/);
  });
});

describe('a form', () => {
  it.each<[string, FormSchema, readonly string[], FormContent]>([
    ['text', form({ a: { type: 'string' } }, 'a'), ['x', enter], { a: 'x' }],
    ['text with a default', form({ a: { type: 'string', default: 'x' } }), [enter], { a: 'x' }],
    ['text left out', form({ a: { type: 'string' } }), [enter], {}],
    ['a default taken away', form({ a: { type: 'string', default: 'x' } }), [clear, enter], {}],
    ['a number', form({ a: { type: 'number' } }, 'a'), ['-1.5e3', enter], { a: -1500 }],
    ['a whole number', form({ a: { type: 'integer', default: 8 } }, 'a'), ['0', enter], { a: 80 }],
    ['yes or no', form({ a: { type: 'boolean' } }, 'a'), ['y'], { a: true }],
    ['yes by default', form({ a: { type: 'boolean', default: true } }, 'a'), [enter], { a: true }],
    ['yes or no left out', form({ a: { type: 'boolean' } }), [enter], {}],
    ['no, when it may be left out', form({ a: { type: 'boolean' } }), [up, enter], { a: false }],
    [
      'one of several',
      form({ a: { type: 'string', enum: ['x', 'y'] } }, 'a'),
      [down, enter],
      { a: 'y' },
    ],
    [
      'one by default',
      form({ a: { type: 'string', enum: ['x', 'y'], default: 'y' } }, 'a'),
      [enter],
      { a: 'y' },
    ],
    ['none of several', form({ a: { type: 'string', enum: ['x', 'y'] } }), [enter], {}],
    [
      'one with a title',
      form(
        {
          a: {
            type: 'string',
            oneOf: [
              { const: '', title: 'Nothing' },
              { const: 'b', title: 'B' },
            ],
          },
        },
        'a',
      ),
      [enter],
      { a: '' },
    ],
    [
      'several',
      form(
        { a: { type: 'array', items: { type: 'string', enum: ['x', 'y', 'z'] }, minItems: 1 } },
        'a',
      ),
      [' ', `${down}${down} `, enter],
      { a: ['x', 'z'] },
    ],
    [
      'several by default',
      form({
        a: { type: 'array', items: { anyOf: [{ const: 'x', title: 'X' }] }, default: ['x'] },
      }),
      [enter],
      { a: ['x'] },
    ],
    [
      'no value of an optional list',
      form({ a: { type: 'array', items: { type: 'string', enum: ['x'] } } }, 'a'),
      [enter],
      { a: [] },
    ],
    [
      'none, left out',
      form({ a: { type: 'array', items: { type: 'string', enum: ['x'] } } }),
      [enter],
      {},
    ],
    [
      'several fields, in order',
      form({ a: { type: 'string' }, b: { type: 'integer' } }, 'a', 'b'),
      ['x', enter, '2', enter],
      { a: 'x', b: 2 },
    ],
  ])('asks for %s', async (_, schema, typed, content) => {
    await expect(fill(schema, ...typed)).resolves.toStrictEqual(content);
  });

  it.each<[string, Fields[string], string, string]>([
    ['too short', { type: 'string', minLength: 2 }, 'x', 'At least 2 characters, not 1'],
    [
      'too long, by characters',
      { type: 'string', maxLength: 1 },
      '🙂x',
      'At most 1 character, not 2',
    ],
    ['no email address', { type: 'string', format: 'email' }, 'ada@', 'Not an email address'],
    ['no address', { type: 'string', format: 'uri' }, 'here', 'Not an address'],
    ['no date', { type: 'string', format: 'date' }, '2026-06-31', 'Not a date'],
    [
      'no date and time',
      { type: 'string', format: 'date-time' },
      '2026-06-30T25:00:00Z',
      'Not a date and time',
    ],
    ['no number', { type: 'number' }, '0x10', 'Not a number'],
    ['no whole number', { type: 'integer' }, '1.5', 'Not a whole number'],
    ['too little', { type: 'number', minimum: 3 }, '2', 'At least 3'],
    ['too much', { type: 'integer', maximum: 3 }, '4', 'At most 3'],
    ['nothing', { type: 'string' }, '', 'Needed'],
  ])('asks again for a value that is %s', async (_, field, typed, problem) => {
    const { terminal, shown } = typing(...(typed === '' ? [] : [typed]), enter, escape);
    await expect(askForm(form({ a: field }, 'a'), terminal)).rejects.toMatchObject({
      code: 'question_left',
    });
    expect(shown()).toContain(problem);
  });

  it('drops an initial value that is no choice', async () => {
    const schema = form({ a: { type: 'array', items: { type: 'string', enum: ['a', 'b'] } } }, 'a');
    const content = { a: ['zz', 'b'] };
    await askForm(schema, typing(enter).terminal, content);
    expect(content).toEqual({ a: ['b'] });
  });

  it('asks again for too few of several values, and keeps the chosen ones', async () => {
    const field = {
      type: 'array',
      items: { type: 'string', enum: ['x', 'y', 'z'] },
      minItems: 2,
    } as const;
    const { terminal, shown } = typing(' ', enter, `${down} `, enter);
    const schema = form(
      { a: { ...field, items: { type: 'string', enum: [...field.items.enum] } } },
      'a',
    );
    await expect(askForm(schema, terminal)).resolves.toStrictEqual({ a: ['x', 'y'] });
    expect(shown()).toContain('Choose 2 to 3, not 1');
  });

  it('shows titles and descriptions, and marks optional fields', async () => {
    const { terminal, shown } = typing(enter);
    await askForm(
      form({ a: { type: 'string', title: 'Region', description: 'Where it runs' } }),
      terminal,
    );
    expect(shown()).toContain('Region (optional): Where it runs');
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('ends the run on %s', async (_, key) => {
    await expect(fill(form({ a: { type: 'string' } }, 'a'), key)).rejects.toThrow(RunLeft);
  });

  it('ends the run when it is aborted', async () => {
    const { terminal } = typing();
    const signal = AbortSignal.abort();
    await expect(askForm(form({ a: { type: 'string' } }), { ...terminal, signal })).rejects.toThrow(
      RunLeft,
    );
  });
});

describe('a user at a terminal', () => {
  const one = form({ a: { type: 'string' } }, 'a');
  const sure = form({ a: { type: 'boolean' } }, 'a');
  const two = form({ a: { type: 'string' }, b: { type: 'boolean' } }, 'a', 'b');

  it.each<[string, FormSchema, readonly string[], object]>([
    [
      'reviews a form of one field',
      one,
      ['x', enter, 'y'],
      { action: 'accept', content: { a: 'x' } },
    ],
    ['says yes with a key', sure, ['y'], { action: 'accept', content: { a: true } }],
    ['says no with a key', sure, ['n'], { action: 'accept', content: { a: false } }],
    [
      'reviews a yes that Enter took from the default',
      form({ a: { type: 'boolean', default: true } }, 'a'),
      [enter, 'y'],
      { action: 'accept', content: { a: true } },
    ],
    [
      'reviews a form of several fields',
      two,
      ['x', enter, 'y', 'y'],
      { action: 'accept', content: { a: 'x', b: true } },
    ],
    [
      'changes a form before it is sent',
      two,
      ['x', enter, 'n', 'n', enter, 'y', enter, 'y', 'y'],
      { action: 'accept', content: { a: 'xy', b: true } },
    ],
    [
      'returns to a form from its review',
      two,
      ['x', enter, 'n', escape, enter, enter, 'y', 'y'],
      { action: 'accept', content: { a: 'x', b: true } },
    ],
    ['declines a form', one, [escape, down, enter], { action: 'decline' }],
    [
      'declines a form that is filled',
      two,
      ['x', enter, 'y', 'n', down, enter],
      { action: 'decline' },
    ],
    ['dismisses a form', one, [escape, down, down, enter], { action: 'cancel' }],
    [
      'answers after all',
      one,
      [escape, enter, 'x', enter, 'y'],
      { action: 'accept', content: { a: 'x' } },
    ],
    [
      'keeps what was typed before the question was left',
      two,
      ['x', enter, escape, enter, enter, 'y', 'y'],
      { action: 'accept', content: { a: 'x', b: true } },
    ],
  ])('%s', async (_, schema, typed, result) => {
    const answer = await askPerson(typing(...typed).terminal)(step(schema));
    expect(answer).toStrictEqual({ stepId: 's', result });
  });

  const choice = { type: 'string', enum: ['pay', 'wait'], default: 'pay' } as const;
  it.each<[string, SagaStep]>([
    ['yes or no', step(form({ a: { type: 'boolean', default: true } }, 'a'))],
    ['yes or no, optional', step(form({ a: { type: 'boolean', default: true } }))],
    ['text', step(form({ a: { type: 'string', default: 'pay' } }, 'a'))],
    ['a choice', step(form({ a: { ...choice, enum: [...choice.enum] } }, 'a'))],
    ['several', step(form({ a: { type: 'boolean', default: true }, b: { type: 'string' } }))],
    [
      'a page',
      {
        type: 'elicitation',
        stepId: 's',
        params: { mode: 'url', message: 'Pay', url: 'https://example.com' },
      },
    ],
  ])('decides nothing with Enter: %s', async (_, asked) => {
    const keys = Array.from({ length: 20 }, () => enter);
    const { terminal } = typing(...keys, '\u0003');
    await expect(askPerson(terminal)(asked)).rejects.toThrow(RunLeft);
  });

  it('sees every value before it is sent', async () => {
    const { terminal, shown } = typing(enter, 'y');
    await askPerson(terminal)(step(form({ a: { type: 'string', title: 'To', default: 'Eve' } })));
    expect(shown()).toMatch(/To: Eve[^]*Send this\?/);
  });

  it('sees why a question is asked again', async () => {
    const { terminal, shown } = typing('x', enter, 'y');
    await askPerson(terminal)({ ...step(one), reason: 'a: too short' });
    expect(shown()).toContain('Asked again: a: too short');
  });

  it.each<[string, readonly string[], string]>([
    ['agrees to open a page', ['y'], 'accept'],
    ['does not open a page', ['n', down, enter], 'decline'],
    ['dismisses a page', [escape, down, down, enter], 'cancel'],
    ['opens a page after all', [escape, enter, 'y'], 'accept'],
  ])('%s', async (_, typed, action) => {
    const { terminal, shown } = typing(...typed);
    const params = { mode: 'url', message: 'Sign in', url: 'https://example.com/in' } as const;
    const answer = await askPerson(terminal)({ type: 'elicitation', stepId: 's', params });
    expect(answer).toStrictEqual({ stepId: 's', result: { action } });
    expect(shown()).toContain('https://example.com/in');
  });

  it('can reject an answer of the model', async () => {
    const params = { messages: [], maxTokens: 1 };
    const answer = await askPerson(typing(escape, down, enter).terminal)({
      type: 'sampling',
      stepId: 's',
      params,
    });
    expect(answer).toStrictEqual({
      stepId: 's',
      error: { code: -1, message: 'User rejected sampling request' },
    });
  });

  it('does not answer for the model with Enter alone', async () => {
    const params = { messages: [], maxTokens: 1 };
    const { terminal, shown } = typing(enter, 'No', enter);
    const answer = await askPerson(terminal)({ type: 'sampling', stepId: 's', params });
    expect(answer).toMatchObject({ result: { content: { text: 'No' } } });
    expect(shown()).toContain('Needed');
  });

  it('can answer for the model after all', async () => {
    const params = { messages: [], maxTokens: 1 };
    const typed = typing(escape, enter, '!', enter);
    const answer = await askPerson(
      typed.terminal,
      'Yes',
    )({ type: 'sampling', stepId: 's', params });
    expect(answer).toMatchObject({ result: { content: { text: 'Yes!' } } });
  });
});
