import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  all,
  call,
  elicit,
  elicitUrl,
  ReplayMismatch,
  saga,
  sample,
  scope,
  step,
} from '../src/index.ts';
import type { Command, Steps } from '../src/model/command.ts';
import type { Program } from '../src/model/program.ts';
import { accepted, answered, failed, said, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World, type TurnSettings } from './support/world.ts';

const long = (amount: number): string =>
  `Refund ${'the customer of this order '.repeat(4)}${amount} euros${' and tell the shop about it'.repeat(4)}?`;
const Sure = z.object({ sure: z.boolean() });
const question = {
  messages: [{ role: 'user', content: { type: 'text', text: 'Safe?' } }],
  maxTokens: 9,
} as const;

const answers = {
  refund: accepted({ sure: true }),
  open: answered({ action: 'accept' }),
  safe: said('yes'),
} as const;

/** Records one command, asks, and replays the journal with another command instead. */
async function replayed(
  before: () => Command<unknown>,
  after: () => Command<unknown>,
): Promise<unknown> {
  const world = new World();
  const programOf = (made: () => Command<unknown>) =>
    sagaOf(function* () {
      yield* made();
      yield* ask('end');
      return 'done';
    });
  let { state, steps } = suspended(await start(programOf(before), {}, world));
  const [first] = steps;
  if (first !== undefined && first.stepId !== 'end') {
    const given = { [first.stepId]: answers[first.stepId as keyof typeof answers] };
    ({ state, steps } = suspended(await turn(programOf(before), state, given, world)));
  }
  expect(steps.map(({ stepId }) => stepId)).toEqual(['end']);
  const outcome = await turn(programOf(after), state, { end: accepted({ word: 'w' }) }, world);
  return outcome.status === 'failed' ? outcome.error : outcome.status;
}

const stepOf = (keep: boolean): Command<unknown> => {
  const give = (): string => 'result';
  return keep ? step('work', give) : step('work', give, { keep: false });
};

describe('a change under a recorded answer or result', () => {
  it.each<[what: string, before: () => Command<unknown>, after: () => Command<unknown>]>([
    [
      'the middle of a long message',
      () => elicit('refund', { message: long(100), schema: Sure }),
      () => elicit('refund', { message: long(900), schema: Sure }),
    ],
    [
      'the middle of a long URL',
      () => elicitUrl('open', { message: 'Open', url: `https://shop.example/?q=${long(100)}` }),
      () => elicitUrl('open', { message: 'Open', url: `https://shop.example/?q=${long(900)}` }),
    ],
    [
      'the system prompt',
      () => sample('safe', { ...question, systemPrompt: 'Be strict.' }),
      () => sample('safe', { ...question, systemPrompt: 'Be lenient.' }),
    ],
    [
      'a new temperature',
      () => sample('safe', question),
      () => sample('safe', { ...question, temperature: 1 }),
    ],
    [
      'the middle of a long input',
      () => step('work', () => 1, { input: { note: long(100) } }),
      () => step('work', () => 1, { input: { note: long(900) } }),
    ],
    ['`keep: false` that was added', () => stepOf(true), () => stepOf(false)],
    ['`keep: false` that was removed', () => stepOf(false), () => stepOf(true)],
  ])('[R3] is a mismatch: %s', async (_, before, after) => {
    expect(await replayed(before, before)).toBe('completed');
    expect(await replayed(before, after)).toBeInstanceOf(ReplayMismatch);
  });
});

describe('steps that differ only by position', () => {
  const strict: TurnSettings = { replace: { isStrict: true } };
  const work = (): Command<number> => step('work', () => 1);
  function* helper(): Steps<number> {
    return yield* work();
  }
  const inner = saga(
    { name: 'inner', version: '1', input: z.object({ item: z.number() }) },
    function* () {
      yield* helper();
      return 'done';
    },
  );
  const sagaOfSteps = (steps: () => Steps<unknown>): Program =>
    sagaOf(function* () {
      yield* steps();
      return 'done';
    });

  it.each<[where: string, body: () => Steps<unknown>]>([
    [
      'in a loop',
      function* () {
        for (let count = 0; count < 2; count += 1) yield* work();
      },
    ],
    [
      'in two branches of an array',
      function* () {
        yield* all([helper(), helper()]);
      },
    ],
    [
      'in a scope in a loop',
      function* () {
        for (let count = 0; count < 2; count += 1) yield* scope('round', helper());
      },
    ],
  ])('[R3] are refused in development %s', async (_, body) => {
    const error = failed(await start(sagaOfSteps(body), {}, new World(), strict));
    expect(error).toMatchObject({ code: 'authoring_error' });
    expect(await start(sagaOfSteps(body), {}, new World())).toMatchObject({ status: 'completed' });
  });

  it.each<[what: string, body: () => Steps<unknown>]>([
    [
      'by their key',
      function* () {
        for (const key of ['a', 'b']) yield* step('work', () => 1, { key });
      },
    ],
    [
      'by their input',
      function* () {
        for (const input of [1, 2]) yield* step('work', () => 1, { input });
      },
    ],
    [
      'by the arguments of their call',
      function* () {
        for (const item of [1, 2]) yield* call(inner, { item });
      },
    ],
    [
      'by the keys of a record',
      function* () {
        yield* all({ a: helper(), b: helper() });
      },
    ],
  ])('[R3] are accepted if something distinguishes them %s', async (_, body) => {
    expect(await start(sagaOfSteps(body), {}, new World(), strict)).toMatchObject({
      status: 'completed',
    });
  });
});
