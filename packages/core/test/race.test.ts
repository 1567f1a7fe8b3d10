import { describe, expect, it } from 'vitest';
import { all, poll, race, sleep, step, type Saga } from '../src/index.ts';
import type { Steps } from '../src/model/command.ts';
import { accepted, completed, failed, refused, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

const word = accepted({ word: 'w' });
const trip = (body: () => Steps<string>): Saga<undefined, undefined> =>
  sagaOf(body, { reuse: 'ok' });

describe('race', () => {
  it('[R1] returns the winner and its value, the same on every replay, whatever would win later', async () => {
    const world = new World();
    let slow = 'a';
    const make = (): Saga<undefined, undefined> =>
      sagaOf(function* () {
        const first = yield* race({
          a: step('a', async () => (await world.sleep(slow === 'a' ? 20 : 0), 'va')),
          b: step('b', async () => (await world.sleep(slow === 'b' ? 20 : 0), 'vb')),
        });
        yield* ask('end');
        return `${first.winner} ${first.value}`;
      });
    const { state } = suspended(await start(make(), {}, world));
    slow = 'b';
    expect(completed(await turn(make(), state, { end: word }, world))).toBe('b vb');
  });

  it('[U3] aborts and awaits losing server steps, and withdraws losing questions', async () => {
    const world = new World();
    const ended: string[] = [];
    const program = sagaOf(function* () {
      const { winner } = yield* race({
        fast: step('fast', () => world.sleep(5)),
        slow: step('slow', async ({ signal }) => {
          await world.sleep(1_000, signal);
          ended.push(`slow ${signal.aborted}`);
        }),
        client: ask('question'),
      });
      ended.push('body');
      yield* ask('end');
      return winner;
    });
    const outcome = suspended(await start(program, {}, world));
    expect(outcome.steps.map(({ stepId }) => stepId)).toEqual(['end']);
    expect(ended).toEqual(['slow true', 'body']);
    expect(world.time).toBeLessThan(1_100);
    const late = await turn(program, outcome.state, { question: word, end: word }, world);
    expect(late.ignored).toEqual([{ stepId: 'question', why: 'unknown' }]);
    expect(completed(late)).toBe('fast');
  });

  it('throws the error of the first branch to end', async () => {
    const program = sagaOf(function* () {
      yield* race({ a: ask('a'), b: ask('b') });
      return '';
    });
    const { state } = suspended(await start(program));
    expect(failed(await turn(program, state, { b: refused() }))).toMatchObject({
      stepId: 'b',
      action: 'decline',
    });
  });

  it('[U2] is won by the answer to the earlier question if several arrive at once', async () => {
    const program = sagaOf(function* () {
      return (yield* race({ a: ask('a'), b: ask('b') })).winner;
    });
    const { state } = suspended(await start(program));
    const outcome = await turn(program, state, { b: word, a: word });
    expect(completed(outcome)).toBe('a');
    expect(outcome.ignored).toEqual([{ stepId: 'b', why: 'unknown' }]);
  });

  it('[W6] lets a sleep win over an unanswered question', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      return (yield* race({ client: ask('a'), late: sleep(1_000) })).winner;
    });
    const one = suspended(await start(program, {}, world));
    expect(one.deadline).toBe(2_000);
    world.time += 999;
    const two = suspended(await turn(program, one.state, {}, world));
    world.time += 1;
    expect(completed(await turn(program, two.state, {}, world))).toBe('late');
  });

  it('[E3] undoes a losing branch that completed, if the saga fails later', async () => {
    const world = new World();
    const done: string[] = [];
    const program = trip(function* () {
      yield* race({
        fast: step('fast', () => world.sleep(5)),
        stubborn: step('stubborn', () => world.sleep(20), {
          compensate: () => void done.push('undo'),
        }),
      });
      yield* step('fail', () => Promise.reject(new Error('no')));
      return '';
    });
    expect(await start(program, {}, world)).toMatchObject({
      compensated: [{ stepId: 'stubborn' }],
    });
    expect(done).toEqual(['undo']);
  });

  it('[R1] runs the finally of losing branches before continuing', async () => {
    const trace: string[] = [];
    const program = sagaOf(function* () {
      yield* race({
        fast: step('fast', () => 1),
        loser: (function* (): Steps<void> {
          try {
            yield* all([
              ask('x'),
              sleep(1_000),
              poll('p', () => undefined, { every: 10, timeout: 100 }),
            ]);
          } finally {
            yield* step('last', () => void trace.push('finally'));
          }
        })(),
      });
      trace.push('body');
      yield* ask('end');
      return '';
    });
    const { state } = suspended(await start(program));
    expect((await turn(program, state, { end: word })).status).toBe('completed');
    expect(trace).toEqual(['finally', 'body', 'body']);
  });

  it('refuses an empty list of branches', () => {
    expect(() => race({})).toThrow(expect.objectContaining({ code: 'authoring_error' }));
  });
});
