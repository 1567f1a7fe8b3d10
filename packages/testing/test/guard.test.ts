import { memoryGuard, memoryTaskStore, type SagaGuard, type TaskStore } from '@mcp-saga/server';
import {
  guardConformance,
  taskStoreConformance,
  type ConformanceCase,
  type GuardUnderTest,
  type TaskStoreUnderTest,
} from '@mcp-saga/testing/guard';
import { describe, expect, it } from 'vitest';

/** A guard in memory, with a mistake in it. */
const guardWith =
  (mistake: (sound: SagaGuard) => Partial<SagaGuard>) => async (): Promise<GuardUnderTest> => {
    let time = Date.UTC(2030, 0, 1);
    const sound = memoryGuard({ clock: () => time });
    const guard = { ...sound, ...mistake(sound) };
    return { guard, elsewhere: guard, now: () => time, pass: async (ms) => void (time += ms) };
  };

const storeWith =
  (mistake: (sound: TaskStore) => Partial<TaskStore>) => async (): Promise<TaskStoreUnderTest> => {
    let time = Date.UTC(2030, 0, 1);
    const sound = memoryTaskStore({ clock: () => time });
    const store = { ...sound, ...mistake(sound) };
    return { store, elsewhere: store, now: () => time, pass: async (ms) => void (time += ms) };
  };

/** Titles of the failing cases, with their errors. */
async function failuresOf(cases: readonly ConformanceCase[]): Promise<ReadonlyMap<string, string>> {
  const failures = new Map<string, string>();
  for (const { title, run } of cases) {
    const error: unknown = await run().catch((thrown: unknown) => thrown);
    if (error === undefined) continue;
    expect(error).toMatchObject({ name: 'SagaTestError', code: 'violated' });
    failures.set(title, (error as Error).message);
  }
  return failures;
}

describe('the rules of a guard', () => {
  it('[T13] hold for the guard in memory', async () => {
    expect(await failuresOf(guardConformance(guardWith(() => ({}))))).toEqual(new Map());
    expect(await failuresOf(taskStoreConformance(storeWith(() => ({}))))).toEqual(new Map());
  });

  it.each<[string, (sound: SagaGuard) => Partial<SagaGuard>, string]>([
    [
      'takes any answer for the same request',
      (sound) => ({ begin: (claim) => sound.begin({ ...claim, digest: 'one' }) }),
      'repeats the response to the same request, and refuses a different request',
    ],
    [
      'claims a key again',
      () => ({ claim: () => true }),
      'allows one claim of a key, until it expires',
    ],
    [
      'ignores a release',
      () => ({ release: () => undefined }),
      'leaves a released turn to the same request only',
    ],
    [
      'says that a late request was first',
      (sound) => ({ finish: async (...given) => (await sound.finish(...given)) || true }),
      'leases a turn again to the same request after the lease has expired, and refuses the late finish',
    ],
    [
      'counts no bytes',
      (sound) => ({ begin: ({ charge: _charge, ...claim }) => sound.begin(claim) }),
      'begins no turn of a principal over the limit, and begins other turns',
    ],
  ])('[T13] are violated by a guard that %s', async (_, mistake, title) => {
    const failures = await failuresOf(guardConformance(guardWith(mistake)));
    expect([...failures.keys()]).toContain(title);
  });

  it('[T13] report the shortest sequence of calls that violates a rule', async () => {
    const failures = await failuresOf(guardConformance(guardWith(() => ({ claim: () => true }))));
    const told =
      failures.get('agrees with a model of a guard, for any requests in any order') ?? '';
    const claim = (key: string): string => `    {"do":"claim","key":"s:${key}"}`;
    expect(told.split('\n').slice(4)).toEqual(
      told.includes('s:a') ? [claim('a'), claim('a')] : [claim('b'), claim('b')],
    );
  });

  it('are violated by a task store that overwrites a version that was never read', async () => {
    const failures = await failuresOf(
      taskStoreConformance(
        storeWith((sound) => ({
          write: async (id, sealed, _version, expiresAt) =>
            await sound.write(id, sealed, (await sound.read(id))?.version ?? 0, expiresAt),
        })),
      ),
    );
    expect([...failures.keys()]).toContain('overwrites only the version of the last read');
  });
});
