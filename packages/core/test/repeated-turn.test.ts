import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { all, elicit, now, poll, race, sleep, step, type Saga } from '../src/index.ts';
import type { Command, Steps } from '../src/model/command.ts';
import type { Outcome } from '../src/model/outcome.ts';
import { accepted, completed, start, suspended, turn, type Answers } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { continuesAtCommits, World, type TurnSettings } from './support/world.ts';

const Ok = z.object({ ok: z.boolean() });
const ok = accepted({ ok: true });
const sure = (ttl?: number): Command<{ ok: boolean }> =>
  elicit('sure', {
    message: 'Sure?',
    schema: Ok,
    ...(ttl === undefined ? {} : { timeout: ttl }),
  });
const minute = 60_000;
const held = { budget: 10 * minute, maxHold: minute };
const unheld = { ...held, maxHold: 0 };

/** A saga whose turn with an answer is lost after 29 minutes, and repeated an hour later. */
async function repeated(
  body: (does: (what: string) => Command<unknown>, world: World) => Steps<string>,
  settings: TurnSettings = held,
) {
  const did: string[] = [];
  const world = new World();
  const program: Saga<undefined, undefined> = sagaOf(() =>
    body((what) => step(what, () => void did.push(what)), world),
  );
  const { state, steps } = suspended(await start(program, {}, world, held));
  const answers = Object.fromEntries(
    steps.flatMap(({ stepId }) => (stepId.endsWith('sure') ? [[stepId, ok]] : [])),
  );
  did.length = 0;
  world.time += 29 * minute;
  const receivedAt = world.time;
  const lost = await turn(program, state, answers, world, settings);
  const before = did.splice(0);
  world.time = receivedAt + 60 * minute;
  const take = async (
    from: Outcome,
    given: Answers,
    change: TurnSettings = held,
  ): Promise<Outcome> => turn(program, suspended(from).state, given, world, change);
  const outcome = await turn(program, state, answers, world, {
    ...settings,
    replace: { ...settings.replace, receivedAt },
  });
  return { world, did, before, lost, outcome, take, receivedAt };
}

describe('a repeated turn', () => {
  it('[E1] [W6] accepts an answer that arrived in time, even if the deadline has passed by now', async () => {
    const { outcome, did, before } = await repeated(function* (does) {
      yield* sure(30 * minute);
      yield* does('charge');
      return 'charged';
    });
    expect(completed(outcome)).toBe('charged');
    expect(did).toEqual(before);
  });

  it('[E1] [W6] treats a deadline as passed if it had passed in the first run', async () => {
    const { outcome, did } = await repeated(function* (does) {
      try {
        yield* sure(28 * minute);
      } catch {
        return 'late';
      }
      yield* does('charge');
      return 'charged';
    });
    expect(completed(outcome)).toBe('late');
    expect(did).toEqual([]);
  });

  it('[E1] [W6] gives another question no more time than before', async () => {
    const { outcome, lost, take, world, receivedAt } = await repeated(function* (does) {
      const both = all([
        sure(30 * minute),
        elicit('more', { message: 'More?', schema: Ok, timeout: 30 * minute }),
      ]);
      yield* all([does('charge'), both]);
      return 'both';
    });
    const { steps, due, state } = suspended(outcome);
    expect(steps).toMatchObject([{ stepId: '1/more' }]);
    expect({ due, head: state.head }).toEqual({
      due: suspended(lost).due,
      head: suspended(lost).state.head,
    });
    world.time = receivedAt + 61 * minute;
    expect(await take(outcome, { '1/more': ok })).toMatchObject({
      error: { name: 'StepTimedOut' },
    });
  });

  it('[E1] [W6] runs the steps after an answer before a sleep that had not ended in the first run', async () => {
    const { outcome, did, before } = await repeated(function* (does) {
      const { winner } = yield* race({
        work: (function* (): Steps<void> {
          yield* sure();
          yield* does('reserve');
          yield* sleep(1_000);
          yield* does('charge');
        })(),
        late: sleep(30 * minute),
      });
      return winner;
    });
    expect(completed(outcome)).toBe('work');
    expect(did).toEqual(['reserve', 'charge']);
    expect(before).toEqual(did);
  });

  it('[E1] [E2] does not retry a step that the first run did not retry', async () => {
    const tries: string[] = [];
    const { outcome, lost, did, before } = await repeated(function* (does) {
      const failing = step(
        'check',
        () => {
          tries.push('check');
          throw new Error('not yet');
        },
        { retry: { attempts: 2, delay: 30 * minute, maxDelay: 30 * minute, jitter: false } },
      );
      const { winner } = yield* race({
        work: (function* (): Steps<void> {
          yield* sure();
          yield* does('reserve');
          yield* does('charge');
        })(),
        failing,
      });
      return winner;
    });
    expect(completed(outcome)).toBe(completed(lost));
    expect(tries).toEqual(['check']);
    expect(did).toEqual(before);
  });

  it.each([
    {
      what: 'was about to be tried then',
      delay: 30 * minute,
      failures: 1,
      takes: 0,
      tried: [1, 2, 2],
    },
    {
      what: 'failed once more then',
      delay: 90_000,
      failures: 2,
      takes: 3 * minute,
      tried: [1, 2, 3, 2, 3],
    },
  ])('[E1] [E2] retries $what', async ({ delay, failures, takes, tried }) => {
    const attempts: number[] = [];
    const { outcome, lost } = await repeated(function* (does, world) {
      const check = step(
        'check',
        ({ attempt }) => {
          attempts.push(attempt);
          if (attempt <= failures) throw new Error('not yet');
        },
        { retry: { attempts: 3, delay: delay, factor: 1, maxDelay: delay, jitter: false } },
      );
      const work = function* (): Steps<void> {
        yield* sure();
        yield* step('long', () => world.sleep(takes));
      };
      yield* all([check, work()]);
      return 'checked';
    });
    expect(completed(lost)).toBe('checked');
    expect(completed(outcome)).toBe('checked');
    expect(attempts).toEqual(tried);
  });

  it('[E1] [W6] polls as often as the first run while it is held', async () => {
    const asked: number[] = [];
    const { outcome, lost } = await repeated(function* () {
      const answer = ({ attempt }: { readonly attempt: number }): true | undefined => {
        asked.push(attempt);
        return attempt === 4 ? true : undefined;
      };
      yield* all([sure(), poll('p', answer, { every: 20_000, timeout: 40 * minute })]);
      return 'answered';
    });
    expect(completed(lost)).toBe('answered');
    expect(completed(outcome)).toBe('answered');
    expect(asked).toEqual([1, 2, 3, 4, 2, 3, 4]);
  });

  it('[E1] [W6] ends at once for events that are due, and waits in full for new events', async () => {
    const { outcome, take, did } = await repeated(function* (does) {
      yield* all([
        sleep(30 * minute),
        (function* (): Steps<void> {
          yield* sure();
          yield* sleep(5 * minute);
          yield* does('remind');
        })(),
      ]);
      return 'done';
    }, unheld);
    expect(suspended(outcome).retryAfterMs).toBe(0);
    const next = suspended(await take(outcome, {}));
    expect(next.retryAfterMs).toBe(5 * minute);
    expect(did).toEqual([]);
  });

  it('[E1] [W6] gives a new question the full time', async () => {
    const { outcome, world } = await repeated(function* () {
      yield* sure();
      yield* elicit('more', { message: 'More?', schema: Ok, timeout: 30 * minute });
      return 'done';
    });
    expect(suspended(outcome).due).toBe(world.time + 30 * minute);
  });

  it('[E1] [W6] continues a poll with the schedule of the first run', async () => {
    let asked = 0;
    const { outcome, lost, take } = await repeated(function* () {
      const polled = poll('p', () => void (asked += 1), {
        every: 10 * minute,
        timeout: 40 * minute,
      });
      yield* all([sure(), polled]);
      return 'done';
    }, unheld);
    // Once at the start, once in the interrupted turn, and once in its repetition.
    expect(asked).toBe(3);
    expect(suspended(lost).retryAfterMs).toBe(10 * minute);
    expect(suspended(outcome)).toMatchObject({
      retryAfterMs: 0,
      deadline: suspended(lost).deadline,
    });
    expect(await take(outcome, {})).toMatchObject({ error: { name: 'StepTimedOut' } });
  });

  it('[E1] reads the time of the first run', async () => {
    const { outcome, did, before, receivedAt } = await repeated(function* (does) {
      const began = yield* now();
      yield* sure();
      const answered = yield* now();
      if (answered > began + 30 * minute) return 'late';
      yield* does('charge');
      return `${answered}`;
    });
    expect(completed(outcome)).toBe(`${receivedAt}`);
    expect(did).toEqual(before);
  });

  it('[E1] [W6] waits for a date as in the first run', async () => {
    const { outcome, did, before } = await repeated(function* (does) {
      const began = yield* now();
      yield* sure();
      const { winner } = yield* race({
        work: (function* (): Steps<void> {
          yield* does('reserve');
          yield* does('charge');
        })(),
        late: sleep(new Date(began + 30 * minute)),
      });
      return winner;
    });
    expect(completed(outcome)).toBe('work');
    expect(did).toEqual(before);
  });

  it('[E1] [W6] begins a second wait at the end of the first one', async () => {
    const { outcome, lost } = await repeated(function* () {
      yield* sleep(28 * minute);
      yield* sleep(2 * minute);
      return 'slept';
    }, unheld);
    expect(suspended(outcome).state).toEqual(suspended(lost).state);
  });

  it('[E1] uses the current time after a commit that no other run reached', async () => {
    const replace = { commitsEach: true, ...continuesAtCommits() };
    const { outcome, world } = await repeated(
      function* (does) {
        yield* sure();
        yield* does('reserve');
        yield* does('charge');
        return `${yield* now()}`;
      },
      { ...held, replace },
    );
    expect(completed(outcome)).toBe(`${world.time}`);
  });

  it('[E1] uses its own clock if the first clock was ahead', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      yield* sure(30 * minute);
      return 'done';
    });
    const { state } = suspended(await start(program, {}, world, held));
    world.time += 29 * minute;
    const ahead = { ...held, replace: { receivedAt: world.time + 2 * minute } };
    expect(completed(await turn(program, state, { sure: ok }, world, ahead))).toBe('done');
  });
});
