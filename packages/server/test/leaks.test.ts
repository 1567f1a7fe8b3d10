import * as fc from 'fast-check';
import { elicit, saga, sample, step, type Json } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { accept, hooksInto, nothingTold, keyOf } from './fixtures/host.ts';
import { ask, eras } from './fixtures/raw.ts';

const mark = 'kq918273';
const key = keyOf('k1', 0x6b);
const keyBytes = key.replace('k1:', '');

const secretive = saga(
  {
    name: 'secretive',
    version: '1',
    input: z.strictObject({
      name: z.string().max(4).optional(),
      size: z.number().max(3).optional(),
      tags: z.array(z.enum(['a', 'b'])).optional(),
    }),
    output: z.object({ ok: z.literal(true) }),
  },
  function* () {
    yield* step('fetch', () => ({ secret: `${mark}-result`, bytes: new Uint8Array(8) }));
    const { way } = yield* elicit('way', {
      message: 'Which way?',
      schema: z.object({
        way: z.enum(['throw', 'step', 'result', 'cause', 'go']),
        note: z.string().optional(),
      }),
    });
    yield* step('flaky', () => {
      if (way === 'step')
        throw Object.assign(new Error(`${mark}-thrown`), { data: { secret: `${mark}-data` } });
      return `${mark}-flaky`;
    });
    if (way === 'throw') throw new Error(`${mark}-body`);
    if (way === 'cause') throw new TypeError('x', { cause: new Error(`${mark}-cause`) });
    yield* sample('judge', {
      messages: [{ role: 'user', content: { type: 'text', text: 'Well?' } }],
      maxTokens: 10,
    });
    return (way === 'result' ? { ok: `${mark}-returned` } : { ok: true }) as { ok: true };
  },
);

/** JSON with a mark in each text and number that is not short. */
const marked: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Json>(
      `${mark}-text`,
      918_273.5,
      null,
      true,
      '',
      `${mark}\u0000"\\`,
      `\ud800${mark}`,
    ),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom('a', 'way', 'note', 'action', 'content', 'code', '__proto__', 'x-y'),
      tie('json'),
      {
        maxKeys: 4,
      },
    ),
  ),
})).json;

const said: Json = {
  stepId: 'judge',
  result: {
    role: 'assistant',
    content: { type: 'text', text: `${mark}-said` },
    model: `${mark}-model`,
  },
};
const way = fc
  .constantFrom('throw', 'step', 'result', 'cause', 'go', 'go', `${mark}-way`)
  .map((chosen) => accept('way', { way: chosen, note: `${mark}-note` }) as Json);

const answers = fc.oneof(
  way.map((answer): Json => [answer]),
  fc.constant<Json>([said]),
  marked,
  fc.array(
    fc.oneof(
      marked,
      fc.record({ stepId: fc.constantFrom('way', 'judge', 'fetch', '__proto__'), result: marked }),
      fc.record({ stepId: fc.constantFrom('way', 'judge'), error: marked }),
      fc.record({
        stepId: fc.constantFrom('way', 'judge'),
        error: fc.record({
          code: fc.integer(),
          message: fc.constant(`${mark}-message`),
          data: marked,
        }),
      }),
      way,
      fc.constant(said),
    ),
    { maxLength: 4 },
  ),
);

type Mangle = (token: string) => string;
const mangle = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Mangle>((token) => token) },
  fc.nat().map<Mangle>((at) => (token) => token.slice(0, at % token.length)),
  fc.nat().map<Mangle>((at) => (token) => {
    const index = at % token.length;
    return `${token.slice(0, index)}${token[index] === 'x' ? 'y' : 'x'}${token.slice(index + 1)}`;
  }),
  fc.constant<Mangle>((token) => `${token}.${mark}`),
  fc.constant<Mangle>(() => mark),
);

const args = fc.oneof(
  fc.constant<Json>({}),
  marked,
  fc.record<{ [field: string]: Json }>(
    { name: marked, size: marked, tags: marked },
    { requiredKeys: [] },
  ),
);

/** Runs that complete, fail and are refused, whatever chance brings. */
const same: Mangle = (token) => token;
const toWay = (chosen: string): [Json, Mangle] => [
  [accept('way', { way: chosen, note: `${mark}-note` })],
  same,
];
const everywhere: [Json, [Json, Mangle][]][] = [
  [{}, [toWay('go'), [[said], same]]],
  [{}, [toWay('result'), [[said], same]]],
  [{}, [toWay('throw'), toWay('step'), toWay('cause')]],
  [
    {},
    [
      toWay(`${mark}-way`),
      [[said], same],
      [[], () => mark],
      [[], (token) => token.replace(/.{3}$/, 'xxx')],
    ],
  ],
];

const consoles = ['log', 'info', 'warn', 'error', 'debug'] as const;
let printed: unknown[];

beforeEach(() => {
  printed = [];
  for (const name of consoles)
    vi.spyOn(console, name).mockImplementation((...all) => void printed.push(all));
});

afterEach(() => vi.restoreAllMocks());

test.each(eras)(
  'no secret or thrown message is on the wire of the %s era, in hooks, or on the console',
  async (era) => {
    const told = nothingTold();
    // The host reports ten rejections a second. The clock advances quickly, so that all of them are
    // reported on any machine.
    let time = 1_700_000_000_000;
    const server = serveSagas({
      testing: { clock: () => (time += 150), environment: 'production' },
      name: 'deployer',
      version: '1',
      sagas: [secretive],
      keys: key,
      hooks: hooksInto(told),
      limits: { maxTokenBytes: 6000 },
    });
    const minted = new Set<string>();
    const shown: string[] = [];
    const send = async (method: string, params: object): Promise<string | undefined> => {
      const { text, last } = await ask(server, era, method, params);
      const token = last.result?.['sagaToken'];
      const given = typeof token === 'string' ? token : undefined;
      if (given !== undefined) minted.add(given);
      shown.push(given === undefined ? text : text.replace(given, '<token>'));
      return given;
    };

    const statuses = new Set<string>();
    await fc.assert(
      fc.asyncProperty(
        args,
        fc.array(fc.tuple(answers, mangle), { minLength: 2, maxLength: 5 }),
        async (start, turns) => {
          await send('tools/callSaga', { name: 'secretive', arguments: start });
          let token = await send('tools/callSaga', { name: 'secretive', arguments: {} });
          for (const [completedSteps, mangled] of turns) {
            token =
              (await send('tools/resumeSaga', {
                sagaToken: mangled(token ?? ''),
                completedSteps,
              })) ?? token;
          }
        },
      ),
      { numRuns: 150, examples: everywhere },
    );

    for (const { status } of told.turns) statuses.add(status);
    // The fuzz has been everywhere: otherwise it shows nothing.
    expect([...statuses].toSorted()).toEqual(['completed', 'failed', 'suspended']);
    expect(new Set(told.rejections.map(({ reason }) => reason)).size).toBeGreaterThan(1);
    expect(new Set(told.ignored.map(({ why }) => why)).size).toBeGreaterThan(1);
    expect(told.errors).toEqual([]);

    const facts = told.turns.map((turn) => ({ ...turn, error: undefined }));
    const events = told.steps.map((event) => ({ ...event, error: undefined }));
    const all = [
      ...shown,
      JSON.stringify([facts, events, told.rejections, told.ignored, told.warnings]),
      String(printed),
    ].join('\n');
    expect(all).not.toContain(mark);
    expect(all).not.toContain('918273');
    expect(all).not.toContain(keyBytes);
    for (const token of minted) expect(all.includes(token.slice(-60))).toBe(false);
  },
);
