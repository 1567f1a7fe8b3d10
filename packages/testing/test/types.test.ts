import { testSaga, type TestSaga } from '@mcp-saga/testing';
import { elicit, saga, step, type Saga } from '@mcp-saga/server';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { deploy } from './sagas/deploy.ts';

const typed: Saga<
  z.ZodObject<{ n: z.ZodCoercedNumber }>,
  z.ZodObject<{ ok: z.ZodDefault<z.ZodBoolean> }>
> = saga(
  {
    name: 'typed',
    version: '1',
    input: z.object({ n: z.coerce.number() }),
    output: z.object({ ok: z.boolean().default(true) }),
  },
  function* ({ n }) {
    yield* elicit('sure', { message: String(n), schema: z.object({ sure: z.boolean() }) });
    yield* step('a', () => 1);
    return {};
  },
);

describe('types', () => {
  it('are those of the saga: its arguments and its result', () => {
    // @ts-expect-error -- it takes arguments
    testSaga(deploy);
    // @ts-expect-error -- other ones
    testSaga(deploy, { input: { servise: 'web' } });
    const script = testSaga(typed, { input: { n: '5' } });
    expectTypeOf<Awaited<ReturnType<(typeof script)['run']>>['result']>().toEqualTypeOf<{
      ok: boolean;
    }>();
  });

  it('need no arguments if each has a default', async () => {
    const input = z.object({ page: z.number().default(1) });
    const listed = saga({ name: 'listed', version: '1', input }, function* ({ page }) {
      return yield* step('list', () => `page ${page}`);
    });
    expect((await testSaga(listed).run()).result).toBe('page 1');
    // @ts-expect-error -- of another type
    testSaga(listed, { input: { page: 'one' } });
  });

  it('include those of its steps if they are declared', () => {
    const script = testSaga(typed, { input: { n: 5 } }).steps<{
      sure: { sure: boolean };
      a: number;
    }>();
    expectTypeOf(script).toEqualTypeOf<
      TestSaga<typeof typed, { sure: { sure: boolean }; a: number }>
    >();
    script.on
      .elicit('sure', { sure: true })
      .on.elicit('sure', ({ before }) => ({ sure: before > 1 }));
    script.on.step('a', 1).on.step('a', async ({ attempt, sleep }) => {
      await sleep(5);
      return attempt;
    });
    // @ts-expect-error -- no such step
    script.on.elicit('shure', { sure: true });
    // @ts-expect-error -- another value
    script.on.elicit('sure', { sure: 'yes' });
    // @ts-expect-error -- another result
    script.on.step('a', () => 'one');
    // @ts-expect-error -- no such step
    script.fail.step('b', new Error('x'));
  });
});
