import { elicit, poll, saga, step, type Program } from '@mcp-saga/server';
import {
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  refuseEverywhere,
  testSaga,
  upgradeEverywhere,
  type TestSaga,
} from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorOf, messageOf } from './support/error-of.ts';

const Sure = z.object({ sure: z.boolean() });

const saves = saga({ name: 'saves', version: '1' }, function* () {
  return yield* step('save', ({ idempotencyKey }) => idempotencyKey);
});
const asks = saga({ name: 'asks', version: '1' }, function* () {
  const { sure } = yield* elicit('sure', { message: 'Sure?', schema: Sure });
  return String(sure);
});
const forgives = saga({ name: 'forgives', version: '1' }, function* () {
  try {
    yield* step('save', () => Promise.reject(new Error('no disk')));
  } catch {
    return 'not saved';
  }
  return 'saved';
});

describe('an explorer without a case', () => {
  const upgrade = (script: TestSaga): Promise<unknown> =>
    upgradeEverywhere(script, script.saga, { reportOnly: true });
  const afterCrash = (script: TestSaga): Promise<unknown> =>
    crashEverywhere(script, { afterCrash: 'fail' });

  it.each<[string, Program, (script: TestSaga) => Promise<unknown>, RegExp]>([
    ['failEverywhere, if the saga has no step', asks, failEverywhere, /no step .* succeeds/],
    ['failEverywhere, if each step fails', forgives, failEverywhere, /no step .* succeeds/],
    ['refuseEverywhere, if the saga asks nothing', saves, refuseEverywhere, /asks no question/],
    ['forkEverywhere, if the saga ends at once', saves, forkEverywhere, /first request/],
    ['upgradeEverywhere, if the saga ends at once', saves, upgrade, /first request/],
    [
      'crashEverywhere with afterCrash, if only a first step can fail',
      saves,
      afterCrash,
      /an undo/,
    ],
  ])('fails, and says why: %s', async (_, each, explore, why) => {
    const { code, message } = await errorOf(explore(testSaga(each)));
    expect(code).toBe('no_cases');
    expect(message).toMatch(why);
  });
});

describe('a case whose fault never happens', () => {
  it('is a violation, and its pasted script throws', async () => {
    const cache = new Set<string>();
    const cached = saga({ name: 'cached', version: '1' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Sure });
      const load = (): void => void cache.add('rates');
      if (!cache.has('rates')) yield* step('load', load, { reads: true });
      return 'loaded';
    });
    const script = testSaga(cached).on.elicit('sure', { sure: true });
    const message = await messageOf(failEverywhere(script));
    expect(message).toMatch(/^When 'load' fails: this never happens/);
    expect(message).toContain(".fail.step('load', new Error('refused'))");
    const reset = testSaga(cached, { before: () => cache.clear() }).on.elicit('sure', {
      sure: true,
    });
    expect(await failEverywhere(reset)).toEqual({ cases: 3 });
  });
});

describe('crashEverywhere', () => {
  it('kills the process before and after each attempt of a poll, too', async () => {
    const seen: number[] = [];
    const counts = saga({ name: 'counts', version: '1' }, function* () {
      const ask = ({ attempt }: { readonly attempt: number }): string | undefined => {
        seen.push(attempt);
        const isRepeated = seen.filter((each) => each === 2).length > 1 && !seen.includes(3);
        if (isRepeated) return 'asked twice';
        return attempt < 3 ? undefined : 'ready';
      };
      return yield* poll('rows', ask, { every: 100, timeout: 60_000 });
    });
    const script = testSaga(counts, { before: () => void seen.splice(0) });
    expect(await messageOf(crashEverywhere(script))).toMatch(
      /^When the process dies after 'rows', run 2: the saga returns "asked twice"/,
    );
  });

  it('has no case for a place that the code of a failing step never reaches', async () => {
    const cases: string[] = [];
    await crashEverywhere(testSaga(forgives), { onCase: ({ when }) => void cases.push(when) });
    expect(cases).toEqual([
      "When the process dies before 'save'",
      'When the response of turn 1 is lost',
    ]);
  });
});
