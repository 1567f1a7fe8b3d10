import { engineOf } from '@mcp-saga/core/program';
import { describe, expect, it } from 'vitest';
import { abort, race, SagaCancelled, saga, step } from '../src/index.ts';
import type { Command } from '../src/model/command.ts';
import type { Program } from '../src/model/program.ts';
import { isAuthoringError } from '../src/program-parts.ts';
import { accepted, completed, failed, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { runtimeOf, World } from './support/world.ts';

const word = { go: accepted({ word: 'w' }) };
const one = (): number => 1;
const down = (): never => {
  throw new Error('down');
};
const timeout = Object.assign(new Error('late'), { code: 'timeout' });
const late = (): never => {
  throw timeout;
};
const look = (run: () => unknown): Command<unknown> =>
  step('look', run as () => number, { reads: true });

/** The recorded outcomes of a suspended or failed saga, by path. */
async function recorded(program: Program, world: World = new World(), settings = {}) {
  const outcome = await start(program, {}, world, settings);
  const { entries = [] } = engineOf(program).history?.(suspended(outcome).state) ?? {};
  return Object.fromEntries(entries.map(({ path, outcome: how }) => [path, how]));
}

describe('a step that only reads', () => {
  it.each([
    ['compensate', { compensate: one }],
    ['unknown', { unknown: 'report' }],
    ['undo', { undo: { retry: 2 } }],
    ['once', { once: true }],
  ])('is refused at its definition with %s', (option, others) => {
    let error: unknown;
    try {
      step('look', one, { reads: true, ...others } as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(isAuthoringError(error)).toBe(true);
    expect((error as Error).message).toContain(`Step 'look' has reads: true and ${option}`);
  });

  it.each([
    ['false', { compensate: one, reads: false }],
    ['true, and options that are off', { compensate: undefined, once: false, reads: true }],
  ])('keeps its other options with reads: %s', (_, options) => {
    expect(() => step('look', one, options as never)).not.toThrow();
  });

  it('[R1] may get the option, and lose it, while sagas run', async () => {
    const make = (reads: boolean) =>
      sagaOf(function* () {
        const found = yield* step('look', one, { reads, input: { a: 1 } });
        yield* ask('go');
        return String(found);
      });
    for (const reads of [true, false]) {
      const { state } = suspended(await start(make(reads)));
      expect(completed(await turn(make(!reads), state, word))).toBe('1');
    }
  });

  it('runs before a question that its branch has created, but an effect behind it does not', async () => {
    const ran: string[] = [];
    const program = sagaOf(function* () {
      const question = ask('go');
      const price = yield* look(() => ran.push('look'));
      if (price !== 1) yield* question;
      yield* step('buy', () => ran.push('buy'));
      return 'bought';
    });
    expect(failed(await start(program))).toMatchObject({ code: 'never_yielded' });
    expect(ran).toEqual(['look']);
  });

  it('is only told to the operator if it was never yielded', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      look(one);
      yield* look(one);
      return 'done';
    });
    expect(completed(await start(program, {}, world))).toBe('done');
    expect(world.warnings).toEqual([expect.stringContaining("yield* step('look')")]);
  });

  it.each([
    ['timeout', late],
    ['unencodable', (): unknown => () => 1],
  ])('fails without an unknown outcome, with the same error: %s', async (expected, run) => {
    const asking = (command: () => Command<unknown>): Program =>
      sagaOf(function* () {
        let code: unknown;
        try {
          yield* command();
        } catch (error) {
          code = (error as { readonly code: unknown }).code;
        }
        yield* ask(String(code));
        return 'done';
      });
    const { steps } = suspended(await start(asking(() => look(run))));
    expect(steps).toMatchObject([{ stepId: expected }]);
    const acting = asking(() => step('look', run as () => number | string));
    expect(await recorded(acting)).toMatchObject({ look: 'failed, outcome unknown' });
    expect(await recorded(asking(() => look(run)))).toMatchObject({ look: 'failed' });
  });

  it('[E2] names an interrupted turn if it fails when the turn is repeated, as effects may have followed', async () => {
    const program = saga({ name: 'test', version: '1', reuse: 'ok' }, function* () {
      yield* look(down);
      yield* step('buy', one);
      return 'bought';
    });
    const interrupted = { replace: { isInterrupted: true } };
    const outcome = await start(program, {}, new World(), interrupted);
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { message: 'down' },
      uncompensated: [{ stepId: 'turn 1' }],
    });
  });

  it('[E2] names an interrupted turn also after the failure was recorded', async () => {
    const program = sagaOf(function* () {
      try {
        yield* look(down);
      } catch {
        yield* ask('go');
      }
      yield* abort('no');
      return 'done';
    });
    const interrupted = { replace: { isInterrupted: true } };
    const { state } = suspended(await start(program, {}, new World(), interrupted));
    const outcome = await engineOf(program).advance(state, new Map(), runtimeOf(new World()), {
      error: new SagaCancelled(),
    });
    expect(outcome).toMatchObject({ uncompensated: [{ stepId: 'turn 1' }] });
  });

  it('[E2] names no turn if it succeeds when the turn is repeated', async () => {
    const program = sagaOf(function* () {
      yield* look(one);
      throw new Error('no');
    });
    const outcome = await start(program, {}, new World(), { replace: { isInterrupted: true } });
    expect(outcome).toMatchObject({ status: 'failed', uncompensated: [] });
  });

  it('[E6] is not named after a finally has prevented the end of its saga', async () => {
    const program = sagaOf(
      function* () {
        for (;;) {
          try {
            yield* ask('go');
          } finally {
            yield* look(one);
            yield* step('act', one);
            // oxlint-disable-next-line no-unsafe-finally -- what an author may do
            break;
          }
        }
        return 'went on';
      },
      { reuse: 'ok' },
    );
    const { state } = suspended(await start(program));
    const error = new SagaCancelled();
    const outcome = await engineOf(program).advance(state, new Map(), runtimeOf(new World()), {
      error,
    });
    const named = outcome.status === 'failed' ? outcome.uncompensated : [];
    expect(named.map(({ stepId }) => stepId)).toContain('act');
    expect(named.map(({ stepId }) => stepId)).not.toContain('look');
  });

  it('a step that reads says so in its events, and no other step does', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      yield* race({ a: look(one), b: step('act', one) });
      return 'done';
    });
    completed(await start(program, {}, world));
    const reading = world.events.filter(({ reads }) => reads).map(({ path }) => path);
    expect(new Set(reading)).toEqual(new Set(['look']));
    expect(world.events.filter((event) => 'reads' in event)).toHaveLength(reading.length);
  });
});
