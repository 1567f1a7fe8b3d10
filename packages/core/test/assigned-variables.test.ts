import { describe, expect, it } from 'vitest';
import { poll, step } from '../src/index.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { Program } from '../src/model/program.ts';
import type { ProgramState } from '../src/model/program-state.ts';
import type { Steps } from '../src/model/command.ts';
import { accepted, completed, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World, type TurnSettings } from './support/world.ts';

const strict: TurnSettings = { replace: { isStrict: true } };

/** The first turn of a saga, and the warnings about it. */
async function first(
  body: () => Steps<string>,
  settings = strict,
): Promise<{ outcome: Outcome; warnings: string[] }> {
  const world = new World();
  const outcome = await start(sagaOf(body), {}, world, settings);
  return { outcome, warnings: world.warnings };
}

describe('a variable that is assigned inside a step', () => {
  it('[R1] causes a warning if the question after the step depends on it', async () => {
    const { outcome, warnings } = await first(function* () {
      let total = 0;
      yield* step('sum', () => void (total = 5));
      yield* ask('sure', `Pay ${total}?`);
      return 'paid';
    });
    expect(outcome.status).toBe('suspended');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("'sure' differs");
    expect(warnings[0]).toContain("Code of 'sum'");
    expect(warnings[0]).toMatch(/ See docs\/reference\/errors\.md#not_deterministic$/);
  });

  it('[R1] causes a warning if the result depends on it', async () => {
    const { outcome, warnings } = await first(function* () {
      let total = 0;
      yield* poll('sum', () => (total = 5), { every: 10, timeout: 100 });
      return `${total}`;
    });
    expect(completed(outcome)).toBe('5');
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('the result differs');
  });

  it.each([
    ['what runs in the next turn', (total: number) => step('pay', () => 1, { input: total })],
    ['whether it asks', (total: number) => (total > 0 ? ask('sure') : step('other', () => 1))],
  ])('[R1] causes a warning if %s depends on it', async (_, next) => {
    const { outcome, warnings } = await first(
      function* () {
        let total = 0;
        yield* step('sum', () => void (total = 5));
        yield* next(total);
        return 'paid';
      },
      { replace: { isStrict: true, commitsEach: true } },
    );
    expect(outcome.status).toBe('suspended');
    expect(warnings).toHaveLength(1);
  });

  it('[R1] causes a warning if a step that ran in this turn used it as its input', async () => {
    const { warnings } = await first(function* () {
      let total = 0;
      yield* step('sum', () => void (total = 5));
      yield* step('pay', () => 1, { input: total });
      return 'paid';
    });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("'pay' differs");
  });

  it('[R1] is not checked outside development, and does not change how a turn ends', async () => {
    const { outcome, warnings } = await first(function* () {
      let total = 0;
      yield* step('sum', () => void (total = 5));
      return `${total}`;
    }, {});
    expect(completed(outcome)).toBe('5');
    expect(warnings).toEqual([]);
  });
});

describe('a body that varies between its runs', () => {
  let [counter, tosses] = [0, 0];
  it.each([
    ['randomness', () => Math.random()],
    ['a coin', () => [1, 1, 0, 1, 0, 0][(tosses += 1) % 6]],
    ['the clock', () => Date.now()],
    ['a variable outside of the body', () => (counter += 1)],
  ])('[R1] is blamed itself, and no step, if it reads %s', async (_, read) => {
    // A coin may fall as in the first run: then nothing differs, and nothing is reported.
    let warnings: readonly string[] = [];
    while (warnings.length === 0) {
      ({ warnings } = await first(function* () {
        yield* step('load', () => 1);
        yield* ask('sure', `Pay ${String(read())}?`);
        return 'paid';
      }));
    }
    expect(warnings[0]).toContain("'sure' differs");
    expect(warnings[0]).toContain('random()');
    expect(warnings[0]).not.toContain("'load'");
    expect(warnings[0]).toMatch(/ See docs\/reference\/errors\.md#not_deterministic$/);
  });

  it('[R1] is blamed itself if it picks the step by chance', async () => {
    let run = 0;
    const { warnings } = await first(function* () {
      run += 1;
      yield* step(`step${run}`, () => 1);
      yield* ask('sure');
      return 'paid';
    });
    expect(warnings).toEqual([expect.stringMatching(/random\(\).*#not_deterministic$/)]);
    expect(warnings[0]).not.toContain('Code of');
  });
});

describe('a turn in development', () => {
  it('[R1] runs no step in its replay, reports nothing, and does not warn about returned values', async () => {
    const world = new World();
    const ran: string[] = [];
    let bodies = 0;
    const program: Program = sagaOf(
      function* () {
        bodies += 1;
        const total = yield* step('sum', () => (ran.push('sum'), 5), {
          compensate: () => void ran.push('undo'),
        });
        yield* ask('sure', `Pay ${total}?`);
        const paid = yield* step('pay', () => (ran.push('pay'), 'paid'), { input: total });
        return `${paid} ${total}`;
      },
      { reuse: 'ok' },
    );
    const performed: string[] = [];
    const settings: TurnSettings = {
      replace: {
        isStrict: true,
        perform: (call) => {
          performed.push(call.path);
          return call.run(call.step);
        },
      },
    };
    const { state }: { state: ProgramState } = suspended(await start(program, {}, world, settings));
    expect(bodies).toBe(2);
    const last = await turn(program, state, { sure: accepted({ word: 'w' }) }, world, settings);
    expect(completed(last)).toBe('paid 5');
    expect([ran, performed]).toEqual([
      ['sum', 'pay'],
      ['sum', 'pay'],
    ]);
    expect(world.events.filter(({ type }) => type === 'started')).toHaveLength(2);
    expect(world.warnings).toEqual([]);
  });

  it('[R1] is not replayed if nothing ran in it', async () => {
    let bodies = 0;
    await first(function* () {
      bodies += 1;
      yield* ask('sure');
      return '';
    });
    expect(bodies).toBe(1);
  });
});
