import { engineOf } from '@mcp-saga/core/program';
/* oxlint-disable unicorn/consistent-function-scoping -- a saga stands in the test that it is for */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  all,
  AnswerConflict,
  checkpoint,
  elicit,
  elicitUrl,
  listRoots,
  sample,
  step,
  type Json,
} from '../src/index.ts';
import type { ClientAnswer } from '../src/model/client-step.ts';
import type { Command, Steps } from '../src/model/command.ts';
import type { Program } from '../src/model/program.ts';
import {
  accepted,
  answered,
  completed,
  failed,
  refused,
  said,
  start,
  suspended,
  turn,
} from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

const word = accepted({ word: 'w' });
const Form = z.object({ age: z.int().max(150), name: z.string().min(2) });

const asks = (make: () => Command<unknown>): Program =>
  sagaOf(function* () {
    return JSON.stringify(yield* make());
  });

describe('an answer that does not match', () => {
  it('[W4] is asked again with a reason that names the field and not the value', async () => {
    const program = asks(() => elicit('form', { message: 'm', schema: Form }));
    const first = suspended(await start(program));
    const bad = accepted({ age: 987_654, name: 'x' });
    const again = suspended(await turn(program, first.state, { form: bad }));
    expect(again.steps).toHaveLength(1);
    const [{ reason, ...asked } = { reason: '' }] = again.steps;
    expect(asked).toEqual(first.steps[0]);
    expect(reason).toContain('age: ');
    expect(reason).toContain('name: ');
    expect(reason).not.toContain('987654');
    expect(again.accepted).toBe(0);
    expect(again.ignored).toEqual([{ stepId: 'form', why: 'invalid' }]);
    const good = await turn(program, again.state, { form: accepted({ age: 1, name: 'ab' }) });
    expect(completed(good)).toBe('{"age":1,"name":"ab"}');
  });

  it.each<[string, () => Command<unknown>, Json, RegExp]>([
    ['a text', () => ask('q'), 'secret', /^result: /],
    ['null', () => ask('q'), null, /^result: /],
    ['a list', () => ask('q'), [], /^result: /],
    ['no action', () => ask('q'), {}, /^action: /],
    ['another action', () => ask('q'), { action: 'secret' }, /^action: /],
    ['no content', () => ask('q'), { action: 'accept' }, /^word: /],
    ['a list as content', () => ask('q'), { action: 'accept', content: ['secret'] }, /^content: /],
    ['a field too few', () => ask('q'), { action: 'accept', content: { secret: 1 } }, /^word: /],
    [
      'another action for a url',
      () => elicitUrl('q', { message: 'm', url: 'https://a.example' }),
      { action: 1 },
      /^action: /,
    ],
    [
      'a sample with an unknown role',
      () => model(),
      { content: { type: 'text', text: 'secret' }, model: 'm' },
      /^role: /,
    ],
    [
      'a sample without a model',
      () => model(),
      { role: 'user', content: { type: 'text', text: 'secret' } },
      /^model: /,
    ],
    ['a sample without content', () => model(), { role: 'user', model: 'm' }, /^content: /],
    [
      'a sample without text',
      () => model(),
      { role: 'user', model: 'm', content: { type: 'text' } },
      /^content\.text: /,
    ],
    [
      'a sample without data',
      () => model(),
      { role: 'user', model: 'm', content: { type: 'image' } },
      /^content\.data: /,
    ],
    [
      'a sample of another type',
      () => model(),
      { role: 'user', model: 'm', content: { type: 'secret' } },
      /^content\.type: /,
    ],
    ['no roots', () => listRoots('q'), {}, /^roots: /],
    [
      'a root without a uri',
      () => listRoots('q'),
      { roots: [{ uri: 'a' }, { name: 'secret' }] },
      /^roots\[1\]\.uri: /,
    ],
  ])('[W4] is refused if it is wrong: %s', async (_, make, result, reason) => {
    const program = asks(make);
    const { state } = suspended(await start(program));
    const again = suspended(await turn(program, state, { q: answered(result) }));
    expect(again.steps[0]?.reason).toMatch(reason);
    expect(again.steps[0]?.reason).not.toContain('secret');
    expect(again.ignored).toEqual([{ stepId: 'q', why: 'invalid' }]);
    const { structure, client, server } = again.state;
    expect({ structure, client, server }).toEqual({
      structure: '',
      client: state.client,
      server: state.server,
    });
  });
});

const model = (): Command<unknown> => sample('q', { messages: [], maxTokens: 1 });

describe('answers of a turn', () => {
  const three = (): Program =>
    sagaOf(function* () {
      const words = yield* all([ask('a'), ask('b'), ask('c')]);
      return words.map((answer) => answer.word).join('');
    });
  const of = (text: string): ClientAnswer => accepted({ word: text });

  it('[W4] are recorded if only some questions are answered, and the others are asked again', async () => {
    const first = suspended(await start(three()));
    const second = suspended(await turn(three(), first.state, { b: of('B') }));
    expect(second.steps.map(({ stepId }) => stepId)).toEqual(['a', 'c']);
    expect(second.accepted).toBe(1);
    const third = suspended(await turn(three(), second.state, {}));
    expect(third.steps).toEqual(second.steps);
    expect(third.accepted).toBe(0);
    expect(completed(await turn(three(), third.state, { c: of('C'), a: of('A') }))).toBe('ABC');
  });

  it('[W4] are recorded if another answer is invalid', async () => {
    const first = suspended(await start(three()));
    const second = suspended(
      await turn(three(), first.state, { a: of('A'), b: accepted({}), c: of('C') }),
    );
    expect(second.steps.map(({ stepId }) => stepId)).toEqual(['b']);
    expect(second.accepted).toBe(2);
  });

  it('[W4] to unknown steps are ignored and reported', async () => {
    const first = suspended(await start(three()));
    const outcome = await turn(three(), first.state, {
      a: of('A'),
      b: of('B'),
      c: of('C'),
      d: of('D'),
      'a#2': of('x'),
      constructor: of('x'),
    });
    expect(completed(outcome)).toBe('ABC');
    expect(outcome.ignored).toEqual(
      ['d', 'a#2', 'constructor'].map((stepId) => ({ stepId, why: 'unknown' })),
    );
  });

  it('[W4] to a waiting server step or checkpoint are ignored and reported', async () => {
    const world = new World();
    const runs: string[] = [];
    const program = sagaOf(function* () {
      yield* all([step('s', () => void runs.push('s')), checkpoint()]);
      return 'done';
    });
    const replace = { defersEffects: 'all' } as const;
    const { state } = suspended(await start(program, {}, world, { replace }));
    const outcome = await turn(program, state, { s: of('x'), checkpoint: of('x') }, world);
    expect(completed(outcome)).toBe('done');
    expect(outcome.ignored).toEqual([
      { stepId: 's', why: 'unknown' },
      { stepId: 'checkpoint', why: 'unknown' },
    ]);
    expect(runs).toEqual(['s']);
  });

  it('[W4] to unknown steps in the first turn are ignored and reported', async () => {
    const program = three();
    const outcome = suspended(
      await turn(program, await engineOf(program).begin({}), { a: of('A') }),
    );
    expect(outcome.ignored).toEqual([{ stepId: 'a', why: 'asked otherwise' }]);
    expect(outcome.steps).toHaveLength(3);
  });

  it('[W4] to a question that the same turn will ask are ignored and reported', async () => {
    const program = sagaOf(function* () {
      yield* ask('a');
      return (yield* ask('b')).word;
    });
    const first = suspended(await start(program));
    const second = suspended(await turn(program, first.state, { a: word, b: word }));
    expect(second.ignored).toEqual([{ stepId: 'b', why: 'unknown' }]);
    expect(second.steps.map(({ stepId }) => stepId)).toEqual(['b']);
  });

  it('[W4] may be repeated only with the same content', async () => {
    const first = suspended(await start(three()));
    const second = suspended(await turn(three(), first.state, { a: of('A'), b: of('B') }));
    const repeated = await turn(three(), second.state, { a: of('A'), b: of('B'), c: of('C') });
    expect(completed(repeated)).toBe('ABC');
    expect(repeated.ignored).toEqual([]);
    for (const conflict of [
      of('B'),
      refused(),
      said('A'),
      answered(null),
      { error: { code: 1, message: 'm' }, provenance: 'client' as const },
    ]) {
      await expect(turn(three(), second.state, { c: of('C'), a: conflict })).rejects.toMatchObject({
        code: 'answer_conflict',
        stepId: 'a',
      });
    }
  });

  it('[W4] that conflict cause an AnswerConflict before anything runs', async () => {
    const runs: string[] = [];
    const program = sagaOf(function* () {
      yield* ask('a');
      yield* ask('b');
      yield* step('s', () => void runs.push('s'));
      return 'done';
    });
    const first = suspended(await start(program));
    const second = suspended(await turn(program, first.state, { a: of('A') }));
    const conflict = turn(program, second.state, { b: of('B'), a: of('hunter2') });
    await expect(conflict).rejects.toBeInstanceOf(AnswerConflict);
    await expect(conflict).rejects.not.toThrow('hunter2');
    expect(runs).toEqual([]);
    expect(completed(await turn(program, second.state, { b: of('B') }))).toBe('done');
  });

  it('[W4] may repeat an answer that was parsed into another value, a decline, and an error', async () => {
    const program = sagaOf(function* () {
      yield* elicit('parsed', { message: 'm', schema: z.object({ n: z.coerce.number() }) });
      for (const id of ['refused', 'error']) {
        try {
          yield* ask(id);
        } catch {
          // continues
        }
      }
      yield* ask('end');
      return 'done';
    });
    const given: Record<string, ClientAnswer> = {
      parsed: accepted({ n: '5' }),
      refused: refused('cancel'),
      error: { error: { code: -1, message: 'no', data: [1] }, provenance: 'client' },
      end: word,
    };
    let { state } = suspended(await start(program));
    for (const id of ['parsed', 'refused', 'error']) {
      state = suspended(await turn(program, state, { [id]: given[id] as ClientAnswer })).state;
    }
    const outcome = await turn(program, state, given);
    expect(completed(outcome)).toBe('done');
    expect(outcome.ignored).toEqual([]);
  });

  it('[W4] to a changed question are not used, and the current question is asked', async () => {
    const formOf = (schema: z.ZodType): Program =>
      sagaOf(function* () {
        return JSON.stringify(yield* elicit('form', { message: 'm', schema }));
      });
    const narrow = z.object({ word: z.string() });
    const wide = z.object({ word: z.string(), sure: z.boolean() });
    const first = suspended(await start(formOf(narrow)));
    const second = suspended(await turn(formOf(wide), first.state, { form: word }));
    expect(second.ignored).toEqual([{ stepId: 'form', why: 'asked otherwise' }]);
    expect(second.steps[0]?.reason).toMatch(/^the question has changed/);
    const both = accepted({ word: 'w', sure: true });
    expect(completed(await turn(formOf(wide), second.state, { form: both }))).toBe(
      '{"word":"w","sure":true}',
    );
  });

  it.each(['__proto__', 'constructor', 'toString', 'a.b:c-d', '_', 'x'.repeat(64)])(
    '[W4] match the question named %s',
    async (id) => {
      const program = sagaOf(function* () {
        return (yield* ask(id)).word + (yield* ask(id)).word;
      });
      const first = suspended(await start(program));
      expect(first.steps.map(({ stepId }) => stepId)).toEqual([id]);
      const second = suspended(await turn(program, first.state, new Map([[id, word]])));
      expect(second.ignored).toEqual([]);
      expect(second.steps.map(({ stepId }) => stepId)).toEqual([`${id}#2`]);
      expect(completed(await turn(program, second.state, new Map([[`${id}#2`, word]])))).toBe('ww');
    },
  );

  it('[W4] to a form that MCP cannot show are impossible, because the saga fails with the path', async () => {
    const program = asks(() =>
      elicit('form', { message: 'm', schema: z.object({ deep: z.object({}) }) as never }),
    );
    const error = failed(await start(program));
    expect(error).toMatchObject({ code: 'authoring_error' });
    expect((error as Error).message).toContain("elicit('form'): ");
    expect((error as Error).message).toContain('deep');
  });

  it('[W4] are reported to the observer as asked and answered, without values', async () => {
    const world = new World();
    const first = suspended(await start(three(), {}, world));
    await turn(three(), first.state, { b: of('B') }, world);
    expect(world.events).toEqual([
      ...['a', 'b', 'c'].map((path) => ({ type: 'asked', kind: 'elicit', path })),
      { type: 'answered', kind: 'elicit', path: 'b' },
      ...['a', 'c'].map((path) => ({ type: 'asked', kind: 'elicit', path })),
    ]);
  });
});

describe('the timeline of a saga', () => {
  it('contains each step and its outcome, without values', async () => {
    const program = sagaOf(function* () {
      const branch = function* (): Steps<void> {
        yield* step('inner', () => 'secret');
      };
      yield* all([branch(), step('nothing', () => undefined)]);
      try {
        yield* step('bad', () => {
          throw new Error('secret');
        });
      } catch {
        // continues
      }
      yield* ask('form');
      yield* ask('end');
      return 'done';
    });
    const first = suspended(await start(program));
    const { state } = suspended(
      await turn(program, first.state, { form: accepted({ word: 'secret' }) }),
    );
    const timeline = engineOf(program).timeline(state);
    expect(timeline.map(({ kind, path, outcome }) => [kind, path, outcome])).toEqual([
      ['input', '', 'parsed'],
      ['step', '0/inner', 'done'],
      ['step', 'nothing', 'done'],
      ['step', 'bad', 'failed'],
      ['elicit', 'form', 'accepted'],
    ]);
    expect(JSON.stringify(timeline)).not.toContain('secret');
    expect(timeline.map(({ bytes }) => bytes)).toEqual([2, 8, 0, 35, 17]);
  });
});
