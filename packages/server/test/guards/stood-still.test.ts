import { elicit, memoryStore, saga, SagaHostError, step } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { accept, failed, hostOf, suspended } from '../fixtures/host.ts';
import { Target } from '../fixtures/sagas.ts';
import { thrownBy } from '../fixtures/thrown-by.ts';

const hour = 3_600_000;

/** Two processes with one guard. The first one stands still in step `first`, until `wake`. */
function processes() {
  const clock = testClock();
  const store = memoryStore({ clock });
  const did: string[] = [];
  let wake = (): void => undefined;
  const slept = new Promise<void>((resolve) => {
    wake = resolve;
  });
  let begun = (): void => undefined;
  const began = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const made = (name: string) =>
    saga({ name: 'order', version: '1' }, function* () {
      yield* elicit('target', { message: 'Where?', schema: Target });
      yield* step('look', () => 1, { reads: true });
      yield* step(
        'first',
        async () => {
          did.push(`${name} first`);
          begun();
          if (name === 'one') await slept;
        },
        { compensate: () => void did.push(`${name} undo first`) },
      );
      yield* step('second', () => {
        did.push(`${name} second`);
        throw new Error('sold out');
      });
      return 'done';
    });
  const host = (name: string) => hostOf(made(name), { clock, store, limits: { lease: 60_000 } });
  const { host: one, told } = host('one');
  return { clock, did, told, wake: () => wake(), began, one, other: host('other').host };
}

describe('a process that stands still until its lease has expired', () => {
  it('starts no further step after another process has undone its saga, and names its last effect', async () => {
    const { clock, did, told, wake, began, one, other } = processes();
    const anonymous = { caller: 'anonymous' } as const;
    const answers = [accept('target', { target: 'x' })];
    const { token } = suspended(await one.start('order', {}, anonymous));
    const late = thrownBy(SagaHostError, one.resume(token, answers, anonymous));
    await began;
    clock.now += hour / 2;
    const turn = failed(await other.resume(token, answers, anonymous));
    expect(turn.compensated).toEqual([{ stepId: 'first' }]);
    const done = ['one first', 'other first', 'other second', 'other undo first'];
    expect(did).toEqual(done);
    wake();
    // It can neither keep its turn nor continue behind its step.
    const error = await late;
    expect(error.code).toBe('busy');
    // Its step acted after the undo, which the result of the other process cannot know.
    expect(error.message).toContain("'first'");
    expect(error.message).not.toContain("'look'");
    expect(told.errors).toEqual([error]);
    expect(did).toEqual(done);
    // A repetition gets the result of the process that undid the saga.
    expect(failed(await one.resume(token, answers, anonymous)).compensated).toEqual([
      { stepId: 'first' },
    ]);
    expect(did).toEqual(done);
  });

  it('names the undos that it ran beside those of another process', async () => {
    const clock = testClock();
    const store = memoryStore({ clock });
    const undone: string[] = [];
    let wake = (): void => undefined;
    const slept = new Promise<void>((resolve) => {
      wake = resolve;
    });
    let begun = (): void => undefined;
    const began = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const host = (name: string) => {
      const order = saga({ name: 'order', version: '1' }, function* () {
        yield* step('pay', () => 1, {
          compensate: async () => {
            undone.push(name);
            begun();
            if (name === 'one') await slept;
          },
        });
        yield* elicit('target', { message: 'Where?', schema: Target });
        return 'done';
      });
      return hostOf(order, { clock, store, limits: { lease: 60_000 } });
    };
    const { host: one, told } = host('one');
    const { host: other } = host('other');
    const anonymous = { caller: 'anonymous' } as const;
    const { token } = suspended(await one.start('order', {}, anonymous));
    const late = thrownBy(SagaHostError, one.cancel(token, anonymous));
    await began;
    clock.now += hour / 2;
    await other.cancel(token, anonymous);
    wake();
    const error = await late;
    expect(undone).toEqual(['one', 'other']);
    expect(error.code).toBe('busy');
    expect(error.message).toContain("the undo of 'pay'");
    expect(told.errors).toEqual([error]);
  });
});
