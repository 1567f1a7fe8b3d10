import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { elicit, poll, race, saga, sleep, step, uuid } from '../src/index.ts';
import { accepted, completed, failed, start, suspended, turn } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { World, type TurnSettings } from './support/world.ts';

const Ok = z.object({ ok: z.boolean() });
const deferring: TurnSettings = { replace: { defersEffects: 'all' } };

describe('a turn that defers effects', () => {
  it('[W7] advances timers and asks, but runs no server step', async () => {
    const world = new World();
    const ran: string[] = [];
    const program = sagaOf(function* () {
      yield* uuid();
      yield* sleep(100);
      yield* elicit('ok', { message: 'Ok?', schema: Ok });
      yield* step('run', () => void ran.push('run'));
      return 'ran';
    });
    const first = suspended(await start(program, {}, world, deferring));
    expect(first.steps).toHaveLength(1);
    const answers = { ok: accepted({ ok: true }) };
    const second = suspended(await turn(program, first.state, answers, world, deferring));
    expect([second.retryAfterMs, ran]).toEqual([0, []]);
    expect(completed(await turn(program, second.state, {}, world))).toBe('ran');
    expect(ran).toEqual(['run']);
  });

  it('[W7] neither polls nor undoes', async () => {
    const world = new World();
    const log: string[] = [];
    const program = saga({ name: 'undoing', version: '1', reuse: 'ok' }, function* () {
      yield* step('do', () => void log.push('do'), { compensate: () => void log.push('undo') });
      yield* poll('poll', () => log.push('poll'), { every: 10, timeout: 100 });
      throw new Error('and fails');
    });
    const first = suspended(await start(program, {}, world, deferring));
    expect(log).toEqual([]);
    const done = suspended(
      await turn(program, first.state, {}, world, { replace: { commitsEach: true } }),
    );
    const polled = suspended(await turn(program, done.state, {}, world, deferring));
    expect(log).toEqual(['do']);
    const late = suspended(
      await turn(program, polled.state, {}, world, { replace: { commitsEach: true } }),
    );
    expect(suspended(await turn(program, late.state, {}, world, deferring)).retryAfterMs).toBe(0);
    expect(log).toEqual(['do', 'poll']);
    failed(await turn(program, late.state, {}, world));
    expect(log).toEqual(['do', 'poll', 'undo']);
  });
});

it('a turn with questions reports when its saga continues without the client', async () => {
  const asking = (ttl: number | undefined, ms: number | undefined) =>
    sagaOf(function* () {
      const branches = {
        ok: elicit('ok', {
          message: 'Ok?',
          schema: Ok,
          ...(ttl === undefined ? {} : { timeout: ttl }),
        }),
        ...(ms === undefined ? {} : { late: sleep(ms) }),
      };
      yield* race(branches);
      return 'over';
    });
  const dueOf = async (
    ttl: number | undefined,
    ms: number | undefined,
  ): Promise<number | undefined> => suspended(await start(asking(ttl, ms), {}, new World())).due;
  expect(await dueOf(undefined, undefined)).toBeUndefined();
  expect(await dueOf(700, undefined)).toBe(1_700);
  expect(await dueOf(700, 500)).toBe(1_500);
  expect(await dueOf(300, 500)).toBe(1_300);
});
