import { memoryStore } from '@mcp-saga/server';
import { storeGuard, type SagaGuard } from '@mcp-saga/server/internal';
import type { Appended, AppendOptions, EntryKey, SagaStore } from '@mcp-saga/server/stores';
import {
  storeConformance,
  type ConformanceCase,
  type StoreUnderTest,
} from '@mcp-saga/testing/stores';
import { describe, expect, it } from 'vitest';
import type { GuardUnderTest } from '../src/conformance/guard-requests.ts';
import { guardCases } from '../src/conformance/store-conformance.ts';

/** A guard on a store in memory, with a mistake in it. */
const guardWith =
  (mistake: (sound: SagaGuard) => Partial<SagaGuard>) => async (): Promise<GuardUnderTest> => {
    let time = Date.UTC(2030, 0, 1);
    const sound = storeGuard(memoryStore({ clock: () => time }));
    const guard = { ...sound, ...mistake(sound) };
    return { guard, elsewhere: guard, now: () => time, pass: async (ms) => void (time += ms) };
  };

type StoreMistake = (sound: SagaStore, clock: () => number) => Partial<SagaStore>;

/** A store in memory, with a mistake in it. */
const storeWith = (mistake: StoreMistake) => async (): Promise<StoreUnderTest> => {
  let time = Date.UTC(2030, 0, 1);
  const sound = memoryStore({ clock: () => time });
  const store = { ...sound, ...mistake(sound, () => time) };
  return { store, elsewhere: store, now: () => time, pass: async (ms) => void (time += ms) };
};

const casesOfGuard = (mistake: (sound: SagaGuard) => Partial<SagaGuard>) =>
  guardCases(guardWith(mistake), 100, 1);
const casesOfStore = (mistake: StoreMistake) =>
  storeConformance(storeWith(mistake), { isRemote: false, runs: 5 });

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
  it('[T13] hold for the guard on a store in memory', async () => {
    expect(await failuresOf(casesOfGuard(() => ({})))).toEqual(new Map());
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
    const failures = await failuresOf(casesOfGuard(mistake));
    expect([...failures.keys()]).toContain(title);
  });

  it('[T13] report the shortest sequence of calls that violates a rule', async () => {
    const failures = await failuresOf(casesOfGuard(() => ({ claim: () => true })));
    const told =
      failures.get('agrees with a model of a guard, for any requests in any order') ?? '';
    const claim = (key: string): string => `    {"do":"claim","key":"s:${key}"}`;
    expect(told.split('\n').slice(4)).toEqual(
      told.includes('s:a') ? [claim('a'), claim('a')] : [claim('b'), claim('b')],
    );
  });
});

/** Appends to a store, and calls `also` for each addition that somebody pays for. */
const noting =
  (sound: SagaStore, also: (key: EntryKey, value: string, bounds: AppendOptions) => unknown) =>
  async (key: EntryKey, value: string, bounds: AppendOptions): Promise<Appended> => {
    const result = await sound.append(key, value, bounds);
    if (result === 'added' && bounds.chargeTo !== undefined) await also(key, value, bounds);
    return result;
  };

let charges = 0;

/** Charges a value to a principal beside its list. */
const charge = (sound: SagaStore, value: string, bounds: AppendOptions): unknown =>
  sound.append({ group: `charges of ${bounds.chargeTo}`, name: `${(charges += 1)}` }, value, {
    ...bounds,
    maxValues: 1e6,
  });

const whenReplaced = 'replaces the expected version only, and returns the stored entry otherwise';
const whenFull = 'adds exactly the limit of 200 concurrent values to a list';
const whenDiscarded = 'discards values, so that others find room, and keeps the order of the rest';
const whenShared = 'keeps the lists and the entries of a group apart';
const whenCharged = 'counts the bytes of values for their principal until they are discarded';

describe('the rules of a store', () => {
  it('[T13] hold for the store in memory', async () => {
    const cases = storeConformance(
      storeWith(() => ({})),
      { isRemote: false },
    );
    expect(await failuresOf(cases)).toEqual(new Map());
  });

  it.each<[string, StoreMistake, string]>([
    [
      'overwrites a version that was never read',
      (sound) => ({
        write: async (key, value, _expected, bounds) =>
          await sound.write(key, value, (await sound.read(key))?.version ?? 0, bounds),
      }),
      whenReplaced,
    ],
    [
      'says that each value is added',
      (sound) => ({
        append: async (...given): Promise<Appended> => {
          await sound.append(...given);
          return 'added';
        },
      }),
      'keeps the first value of a name in a list',
    ],
    [
      'has no limit of values',
      (sound) => ({
        append: (key, value, bounds) => sound.append(key, value, { ...bounds, maxValues: 1e6 }),
      }),
      whenFull,
    ],
    [
      'counts before it adds',
      (sound) => ({
        append: async (key, value, bounds) => {
          const { values } = await sound.list(key.group);
          await Promise.resolve();
          if (values.length >= bounds.maxValues) return 'full';
          return await sound.append(key, value, { ...bounds, maxValues: 1e6 });
        },
      }),
      whenFull,
    ],
    [
      'says `full` of a taken name',
      (sound) => ({
        append: async (key, value, bounds) => {
          const { values } = await sound.list(key.group);
          return values.length >= bounds.maxValues
            ? 'full'
            : await sound.append(key, value, bounds);
        },
      }),
      'refuses values beyond the limit of a list, and still says that a name is taken',
    ],
    ['never closes a list', () => ({ close: () => undefined }), 'closes an empty list'],
    ['never discards', () => ({ discard: () => undefined }), whenDiscarded],
    [
      'discards by the name alone',
      (sound) => ({
        discard: async (group, values) => {
          const { values: all } = await sound.list(group);
          const names = values.map(({ name }) => name);
          await sound.discard(
            group,
            all.filter(({ name }) => names.includes(name)),
          );
        },
      }),
      whenDiscarded,
    ],
    [
      'opens a closed list when it discards',
      (sound) => {
        const opened = new Set<string>();
        return {
          discard: async (group, values) => {
            if (values.length > 0) opened.add(group);
            await sound.discard(group, values);
          },
          list: async (group) => {
            const listed = await sound.list(group);
            return opened.has(group) ? { ...listed, isClosed: false } : listed;
          },
        };
      },
      'discards nothing from an unknown list, and opens no closed one',
    ],
    [
      'drops the values of a closed list',
      (sound) => ({
        list: async (group) => {
          const { values, isClosed } = await sound.list(group);
          return { values: isClosed ? [] : values, isClosed };
        },
      }),
      'adds no value to a closed list, and keeps the stored ones',
    ],
    [
      'sorts a list by name',
      (sound) => ({
        list: async (group) => {
          const { values, isClosed } = await sound.list(group);
          return {
            values: values.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
            isClosed,
          };
        },
      }),
      'lists values in the order of their additions',
    ],
    [
      'trims names',
      (sound) => ({
        append: ({ group, name }, ...given) => sound.append({ group, name: name.trim() }, ...given),
      }),
      'distinguishes lists and values with any characters in their names',
    ],
    [
      'lets the newest value say when a list expires',
      (sound, clock) => {
        const expiries = new Map<string, number>();
        return {
          append: (key, value, bounds) => {
            expiries.set(key.group, bounds.expiresAtMs);
            return sound.append(key, value, bounds);
          },
          list: async (group) => {
            const { values, isClosed } = await sound.list(group);
            const isOver = clock() >= (expiries.get(group) ?? Infinity);
            return isOver ? { values: [], isClosed } : { values, isClosed };
          },
        };
      },
      'forgets a list at the latest expiry of its values',
    ],
    [
      'writes no entry whose name is in the list of its group',
      (sound, clock) => ({
        write: async (key, ...given) => {
          const { values } = await sound.list(key.group);
          return values.some(({ name }) => name === key.name)
            ? { status: 'other', entry: undefined, nowMs: clock() }
            : await sound.write(key, ...given);
        },
      }),
      whenShared,
    ],
    [
      'adds no value whose name is an entry of its group',
      (sound) => ({
        append: async (key, ...given) =>
          (await sound.read(key)) === undefined ? await sound.append(key, ...given) : 'taken',
        write: async (key, value, ...given) => {
          const { values } = await sound.list(key.group);
          // The entry replaces the value.
          await sound.discard(
            key.group,
            values.filter(({ name }) => name === key.name),
          );
          return await sound.write(key, value, ...given);
        },
      }),
      whenShared,
    ],
    [
      'removes the entry of the name of a discarded value',
      (sound) => ({
        discard: async (group, values) => {
          await sound.discard(group, values);
          for (const { name } of values) {
            const { version = 0 } = (await sound.read({ group, name })) ?? {};
            await sound.remove({ group, name }, version);
          }
        },
      }),
      whenShared,
    ],
    [
      'closes the entries of a group with its list',
      (sound) => {
        const closed = new Set<string>();
        return {
          close: async (group, expiresAtMs) => {
            closed.add(group);
            await sound.close(group, expiresAtMs);
          },
          read: (key) => (closed.has(key.group) ? undefined : sound.read(key)),
        };
      },
      whenShared,
    ],
    [
      'charges nobody for a value',
      (sound) => ({
        append: (key, value, { chargeTo: _chargeTo, ...bounds }) =>
          sound.append(key, value, bounds),
      }),
      whenCharged,
    ],
    [
      'charges a value twice',
      (sound) => ({
        append: noting(sound, (_, value, bounds) => charge(sound, value, bounds)),
      }),
      whenCharged,
    ],
    [
      'adds no value for a principal who has stored much',
      (sound) => {
        let bytes = 0;
        const added = noting(sound, (_, value) => (bytes += value.length));
        return {
          append: async (key, value, bounds) =>
            bytes >= 1_000 && bounds.chargeTo !== undefined
              ? 'full'
              : await added(key, value, bounds),
        };
      },
      whenCharged,
    ],
    [
      'charges a value after it was discarded',
      (sound) => {
        const paid = new Map<string, AppendOptions>();
        return {
          append: noting(sound, ({ group }, _, bounds) => paid.set(group, bounds)),
          discard: async (group, values) => {
            const { values: before } = await sound.list(group);
            await sound.discard(group, values);
            const { values: after } = await sound.list(group);
            const bounds = paid.get(group);
            for (const { name, value } of before)
              if (bounds !== undefined && !after.some((one) => one.name === name))
                await charge(sound, value, bounds);
          },
        };
      },
      whenCharged,
    ],
    [
      'charges a value after its list has expired',
      (sound) => ({
        append: async (key, value, { chargeTo, ...bounds }) => {
          const result = await sound.append(key, value, bounds);
          const expiresAtMs = bounds.expiresAtMs + 86_400_000;
          if (result === 'added' && chargeTo !== undefined)
            await charge(sound, value, { ...bounds, chargeTo, expiresAtMs });
          return result;
        },
      }),
      'counts the bytes of values until their list expires',
    ],
  ])('[T13] are violated by a store that %s', async (_, mistake, title) => {
    const failures = await failuresOf(casesOfStore(mistake));
    expect([...failures.keys()]).toContain(title);
  });
});
