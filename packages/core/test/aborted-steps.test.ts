import { engineOf } from '@mcp-saga/core/program';
import { describe, expect, it } from 'vitest';
import { poll, sample, SagaCancelled, step, TurnAborted } from '../src/index.ts';
import type { Command, Steps } from '../src/model/command.ts';
import { abortGraceMs } from '../src/effects/parts/abort-grace.ts';
import { deferred, settle } from './support/deferred.ts';
import { answered, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { runtimeOf, World, type TurnSettings } from './support/world.ts';

const never = (): Promise<never> => new Promise(() => undefined);

function* only(command: Command<unknown>): Steps<string> {
  yield* command;
  return 'done';
}

/** A turn whose request is aborted while something runs in it. */
function aborted(settings: TurnSettings = {}) {
  const world = new World();
  const aborting = new AbortController();
  const began = deferred();
  return {
    world,
    aborting,
    began,
    settings: { ...settings, signal: aborting.signal },
    stuck: () => {
      began.resolve();
      return never();
    },
  };
}

describe('code that never settles', () => {
  it.each([
    ['step', (run: () => Promise<never>) => step('charge', run)],
    [
      'step with a timeout',
      (run: () => Promise<never>) => step('charge', run, { timeout: 60_000 }),
    ],
    ['poll', (run: () => Promise<never>) => poll('look', run, { every: 10, timeout: 100 })],
  ])('[E6] delays its request for the abort grace, and no longer: a %s', async (_, make) => {
    const { world, aborting, began, settings, stuck } = aborted();
    const program = sagaOf(() => only(make(stuck)));
    const taking = start(program, {}, world, settings);
    await began.promise;
    const at = world.time;
    aborting.abort(new Error('gone'));
    await expect(taking).rejects.toBeInstanceOf(TurnAborted);
    expect(world.time - at).toBe(abortGraceMs);
  });

  it('[E6] [W3] delays its request for the abort grace when the host samples', async () => {
    const { world, aborting, began, stuck, settings } = aborted({
      replace: { route: () => 'host', sample: () => stuck() },
    });
    const taking = start(
      sagaOf(() => only(sample('s', { messages: [], maxTokens: 1 }))),
      {},
      world,
      settings,
    );
    await began.promise;
    aborting.abort(new Error('gone'));
    await expect(taking).rejects.toBeInstanceOf(TurnAborted);
  });

  it('[E6] in an undo aborts its request, and the undo runs again from the same token', async () => {
    const { world, aborting, began, settings, stuck } = aborted();
    let isStuck = true;
    const program = sagaOf(
      function* () {
        yield* step('charge', () => 1, { compensate: () => (isStuck ? stuck() : undefined) });
        yield* ask('sure');
        return 'done';
      },
      { reuse: 'ok' },
    );
    const { state } = suspended(await start(program, {}, world));
    const cancel = (change: TurnSettings) =>
      engineOf(program).advance(state, new Map(), runtimeOf(world, { turn: 2, ...change }), {
        error: new SagaCancelled(),
      });
    const taking = cancel(settings);
    await began.promise;
    aborting.abort(new Error('gone'));
    await expect(taking).rejects.toBeInstanceOf(TurnAborted);
    isStuck = false;
    expect(await cancel({})).toMatchObject({
      compensated: [{ stepId: 'charge' }],
      uncompensated: [],
    });
  });

  it('[E6] delays its request while it may still settle, and its token stays valid', async () => {
    const { world, aborting, began, settings } = aborted();
    const ending = deferred();
    const program = sagaOf(function* () {
      yield* ask('sure');
      yield* step('charge', async () => {
        began.resolve();
        await ending.promise;
      });
      return 'done';
    });
    const { state } = suspended(await start(program, {}, world));
    const held = { ...settings, replace: { sleep: never } };
    const taking = turn(
      program,
      state,
      { sure: answered({ action: 'accept', content: { word: 'w' } }) },
      world,
      held,
    );
    let isOver = false;
    const over = taking.catch((error: unknown) => error).finally(() => void (isOver = true));
    await began.promise;
    aborting.abort(new Error('gone'));
    await settle();
    expect(isOver).toBe(false);
    ending.resolve();
    expect(await over).toBeInstanceOf(TurnAborted);
    const again = turn(
      program,
      state,
      { sure: answered({ action: 'accept', content: { word: 'w' } }) },
      world,
    );
    expect(await again).toMatchObject({ status: 'completed' });
  });
});
