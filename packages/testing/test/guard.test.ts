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
    const sound = memoryTaskStore(() => time);
    const store = { ...sound, ...mistake(sound) };
    return { store, elsewhere: store, now: () => time, pass: async (ms) => void (time += ms) };
  };

/** The titles of the cases that fail, and what they say. */
async function failuresOf(cases: readonly ConformanceCase[]): Promise<ReadonlyMap<string, string>> {
  const failures = new Map<string, string>();
  for (const { title, run } of cases) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const error: unknown = await run().catch((thrown: unknown) => thrown);
    if (error === undefined) continue;
    expect(error).toMatchObject({ name: 'SagaTestError', code: 'violated' });
    failures.set(title, (error as Error).message);
  }
  return failures;
}

describe('the promises of a guard', () => {
  it('[T13] hold for the one in memory', async () => {
    expect(await failuresOf(guardConformance(guardWith(() => ({}))))).toEqual(new Map());
    expect(await failuresOf(taskStoreConformance(storeWith(() => ({}))))).toEqual(new Map());
  });

  it.each<[string, (sound: SagaGuard) => Partial<SagaGuard>, string]>([
    [
      'takes any answer for the same request',
      (sound) => ({ begin: (claim) => sound.begin({ ...claim, digest: 'one' }) }),
      'gives the same response to the same request, and refuses another one',
    ],
    ['claims a key again', () => ({ claim: () => true }), 'lets a key be claimed once, until it expires'],
    [
      'ignores a release',
      () => ({ release: () => undefined }),
      'leaves a released turn to the same request alone',
    ],
    [
      'says that a late request was first',
      (sound) => ({ finish: async (...given) => (await sound.finish(...given)) || true }),
      'leases a turn again to the same request when its lease ran out, and refuses the late finish',
    ],
    [
      'counts no bytes',
      (sound) => ({ begin: ({ owner: _owner, ...claim }) => sound.begin(claim) }),
      'begins no turn of a principal for whom it keeps enough, and any other turn',
    ],
  ])('[T13] are broken by one that %s', async (_, mistake, title) => {
    const failures = await failuresOf(guardConformance(guardWith(mistake)));
    expect([...failures.keys()]).toContain(title);
  });

  it('[T13] are broken by a sequence of calls, which is told as short as it was found', async () => {
    const failures = await failuresOf(guardConformance(guardWith(() => ({ claim: () => true }))));
    const told = failures.get('agrees with a model of a guard, whatever is asked in whatever order') ?? '';
    const claim = (key: string): string => `    {"do":"claim","key":"s:${key}"}`;
    expect(told.split('\n').slice(4)).toEqual(
      told.includes('s:a') ? [claim('a'), claim('a')] : [claim('b'), claim('b')],
    );
  });

  it('those of a store of tasks are broken by one that writes over a version that nobody read', async () => {
    const failures = await failuresOf(
      taskStoreConformance(
        storeWith((sound) => ({
          write: async (id, sealed, _version, expiresAt) =>
            await sound.write(id, sealed, (await sound.read(id))?.version ?? 0, expiresAt),
        })),
      ),
    );
    expect([...failures.keys()]).toContain('writes only over the version that was read');
  });
});
