import { elicit, saga, sleep, step, type Steps } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import type { ResumeRequest } from '../../src/model/request-types.ts';
import type { SagaTurn } from '../../src/model/turn.ts';
import { coreOf } from '../../src/saga-host.ts';
import { suspended } from '../fixtures/host.ts';
import { hour, minute, Ok, queued, type Queued } from '../queue/queued.ts';

/** Who may run a turn, and finish one whose process has died. */
const runners: Readonly<Record<string, () => ResumeRequest>> = {
  'a client': () => ({}),
  'a resumable request': () => ({
    holder: {
      kind: 'client',
      resumable: { id: 1, beganAt: 0, dialect: {}, report: () => Promise.resolve() },
    },
  }),
  'a task': () => ({ holder: { kind: 'store' } }),
};
const stepping = ['a resumable request', 'a task'];
const yes = { stepId: 'sure', result: { action: 'accept', content: { ok: true } } };
const died = 'died';

/** A saga that asks, and then runs a body in which a process dies. */
const order = (body: () => Steps<unknown>) =>
  saga({ name: 'order', version: '1' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Ok });
    yield* sleep(hour);
    yield* body();
    return 'done';
  });

/** A step with an undo. Its process dies with the first run. */
function dies(did: string[], id: string, again: () => void = () => undefined) {
  return step(
    id,
    () => {
      did.push(id);
      if (!did.includes(died)) return new Promise<undefined>(() => undefined);
      again();
      return undefined;
    },
    { compensate: () => void did.push(`undo ${id}`) },
  );
}

const runs = (did: string[], id: string) =>
  step(id, () => void did.push(id), { compensate: () => void did.push(`undo ${id}`) });

/** Goes on until the saga ends or asks, as the runner does. */
async function goOn(world: Queued, token: string, request: ResumeRequest): Promise<SagaTurn> {
  const host = coreOf(world.restart());
  let turn = await host.resume(token, [], {}, request);
  for (
    let count = 0;
    count < 9 && turn.status === 'suspended' && turn.steps.length === 0;
    count += 1
  )
    turn = await host.resume(turn.token, [], {}, request);
  return turn;
}

/** Lets the process of a runner die in the body, and its lease pass. Returns the token of the turn. */
async function interrupted(world: Queued, did: string[], id: string, by: string): Promise<string> {
  const request = runners[by]?.() ?? {};
  const { token: first } = suspended(await world.host.start('order', {}));
  const core = coreOf(world.host);
  const { token } = suspended(await core.resume(first, [yes], {}, request));
  world.clock.now += hour;
  void goOn(world, token, request).catch(() => undefined);
  await expect.poll(() => did).toContain(id);
  did.push(died);
  world.clock.now += 3 * minute;
  return token;
}

const worldOf = (body: () => Steps<unknown>): Queued =>
  queued(order(body), { limits: { tokenTtl: 48 * hour, maxHold: 0 } });

describe.each(Object.keys(runners))('a turn of %s, whose process has died in a step', (first) => {
  it.each(Object.keys(runners))(
    '[E2] [E9] reports the step as unknown if %s finishes it, and the step then fails',
    async (second) => {
      const did: string[] = [];
      const world = worldOf(function* () {
        yield* runs(did, 'one');
        yield* dies(did, 'two', () => {
          throw new Error('refused: seen before');
        });
      });
      const token = await interrupted(world, did, 'two', first);
      const end = await goOn(world, token, runners[second]?.() ?? {});
      expect(end).toMatchObject({ status: 'failed', compensated: [{ stepId: 'one' }] });
      const unknown = end.status === 'failed' ? end.uncompensated.map(({ stepId }) => stepId) : [];
      expect(unknown).toContain('two');
    },
  );
});

describe.each(stepping)('a turn of %s, whose process has died in its first step', (first) => {
  it('[E7] undoes that step only if it is cancelled, and runs no other', async () => {
    const did: string[] = [];
    const world = worldOf(function* () {
      yield* dies(did, 'one');
      yield* runs(did, 'two');
    });
    const token = await interrupted(world, did, 'one', first);
    expect(await world.restart().cancel(token)).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'one' }],
      uncompensated: [],
    });
    expect(did).toEqual(['one', died, 'one', 'undo one']);
  });

  it('[E8] knows the outcome of a later step that fails when a queue goes on', async () => {
    const did: string[] = [];
    const world = worldOf(function* () {
      yield* dies(did, 'one');
      yield* step('two', () => {
        throw new Error('no');
      });
    });
    const token = await interrupted(world, did, 'one', first);
    expect(await world.drain()).toMatchObject({ status: 'ended' });
    expect(await world.restart().resume(token)).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'one' }],
      uncompensated: [],
    });
  });
});
