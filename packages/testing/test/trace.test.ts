import { all, continueAs, elicit, patched, pivot, poll, saga, scope, step } from '@mcp-saga/server';
import type { Saga } from '@mcp-saga/server';
import { crashEverywhere, testSaga, type SagaRun } from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const base = { name: 'shop', version: '1', reuse: 'ok' } as const;
const Sure = z.object({ sure: z.boolean() });
const sure = () => elicit('sure', { message: 'Sure?', schema: Sure });
const pay = (id: string) =>
  step(id, ({ idempotencyKey }) => idempotencyKey, { compensate: ({ stepKey }) => void stepKey });

/** Effects of the pictures: each run of a step and of an undo. */
const drawn = ({ trace }: Pick<SagaRun, 'trace'>): readonly string[] =>
  Array.from(trace).flatMap((entry) => {
    if (entry.type === 'ran') return [entry.id];
    return entry.type === 'undone' ? [`~${entry.id}`] : [];
  });

const happened = ({ effects }: Pick<SagaRun, 'effects'>): readonly string[] =>
  effects.flatMap(({ id, runs }) => Array.from({ length: runs }, () => id));

describe('the trace has each effect once', () => {
  const scoped = saga(base, function* () {
    yield* pay('reserve');
    yield* scope(
      'trip',
      (function* () {
        yield* pay('charge');
      })(),
    );
    throw new Error('no');
  });
  const Round = z.object({ round: z.number().default(1) });
  const again: Saga<typeof Round, undefined> = saga(
    { ...base, input: Round },
    function* ({ round }) {
      yield* pay('work');
      if (round === 2) throw new Error('no');
      yield* pivot('enough');
      return yield* continueAs(again, { round: 2 });
    },
  );
  const parallel = saga(base, function* () {
    yield* all([pay('one'), pay('two')]);
    return 'ok';
  });

  it('undone in a scope, in order', async () => {
    const run = await testSaga(scoped).run();
    expect(run.trace.lines.slice(-3)).toEqual([
      'undid trip/charge',
      'undid reserve',
      'failed: Error: no',
    ]);
    expect(drawn(run).toSorted()).toEqual(happened(run).toSorted());
  });

  it('without the decision of a patch, which is no undo', async () => {
    const changed = saga(base, function* () {
      return String(yield* patched('credit-check'));
    });
    expect((await testSaga(changed).run()).trace.lines).toEqual([
      'started shop',
      'completed: "true"',
    ]);
  });

  it('undone after continueAs, and not those before', async () => {
    const run = await testSaga(again, { input: {} }).run();
    expect(run.trace.lines.filter((line) => line.startsWith('undid'))).toEqual(['undid work@1']);
    const left = await testSaga(again, { input: {} }).fail.undo('work@1', new Error('down')).run();
    expect(left.trace.lines).toContain('left work@1');
    expect(left.trace.lines).not.toContain('left work');
  });

  it.each(['before', 'after'] as const)('beside a step %s which the process dies', async (when) => {
    const run = await testSaga(parallel).crash[when]('two').run();
    const crashed = run.trace.lines.indexOf(`crashed ${when} two`);
    expect(run.trace.lines.slice(0, crashed)).toContain('ran one: "do:one"');
    const dead = when === 'after' ? ['two'] : [];
    expect([...drawn(run), ...dead].toSorted()).toEqual(happened(run).toSorted());
  });

  it('and no effect for a poll before the process dies', async () => {
    const polling = saga(base, function* () {
      yield* poll('ready', () => 'yes', { every: 1_000, timeout: 9_000 });
      return yield* pay('one');
    });
    const run = await testSaga(polling).crash.before('one').run();
    expect(drawn(run)).toEqual(['one']);
    expect(run.trace.lines).toContain('crashed before one');
  });

  it('unless a guard repeats a stored response', async () => {
    const asking = saga({ ...base, reuse: undefined }, function* () {
      yield* pay('reserve');
      yield* sure();
      throw new Error('no');
    });
    const run = await testSaga(asking).on.elicit('sure', { sure: true }).run();
    const same = await run.at('sure').fork();
    expect(same.trace.lines.filter((line) => line.startsWith('undid'))).toEqual([]);
  });
});

describe('the trace names who acts', () => {
  it('the server, if a fallback answers', async () => {
    const falling = saga(base, function* () {
      const answer = yield* elicit('sure', {
        message: '',
        schema: Sure,
        fallback: () => ({ sure: true }),
      });
      return String(answer.sure);
    });
    const run = await testSaga(falling).deny.client('elicitation').run();
    expect(run.trace.lines).toContain('answered sure by the server');
    expect(run.toMermaid()).toContain('Note over S: answered sure');
  });

  it('the client, in the turn of its cancellation', async () => {
    const asking = saga(base, function* () {
      yield* pay('reserve');
      yield* sure();
      return 'ok';
    });
    const cancelled = await testSaga(asking).cancel.at('sure', 'why').run();
    const late = await (
      await testSaga(asking).on.elicit('sure', { sure: true }).run()
    )
      .at('sure')
      .cancel('why');
    for (const { trace } of [cancelled, late])
      expect(String(trace)).toMatch(/turn 3 {2}was cancelled: why\n +undid reserve/);
  });

  it('the client, if its answer is rejected, or its token', async () => {
    const Name = z.object({ name: z.string().min(3) });
    const asking = saga({ ...base, reuse: undefined }, function* () {
      return (yield* elicit('name', { message: '', schema: Name })).name;
    });
    const run = await testSaga(asking)
      .on.elicit('name', ({ before }) => ({ name: before === 0 ? 'a' : 'anna' }))
      .run();
    expect(String(run.trace)).toMatch(/answered name: \{"name":"a"\}\n +asked name again/);
    const fork = await run.at('name').fork({ name: 'bert' });
    expect(fork.trace.lines.slice(-2)).toEqual([
      'answered name: {"name":"bert"}',
      'was refused: used',
    ]);
  });
});

it.each([
  z.string().min(1).default(''),
  z.int().min(1).default(0),
  z.email().default(''),
  z
    .array(z.enum(['a', 'b']))
    .min(1)
    .default([]),
])('explorers leave out a default that the form rejects: %#', async (value) => {
  const schema = z.object({ value: value as z.ZodType });
  const asking = saga({ name: 'asking', version: '1' }, function* () {
    return JSON.stringify(yield* elicit('value', { message: '', schema }));
  });
  expect((await crashEverywhere(testSaga(asking))).cases).toBeGreaterThan(0);
});
