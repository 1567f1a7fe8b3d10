import { expect, it } from 'vitest';
import { elicitUrl, scope, step } from '../src/index.ts';
import { answered, completed, start, suspended, turn } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

const page = { message: 'Connect', url: 'https://bank.example/' };

it('complete finds the elicitUrl although a step of the same ID follows it in a scope', async () => {
  const program = sagaOf(function* () {
    yield* scope(
      'bank',
      (function* () {
        yield* elicitUrl('connect', page);
        yield* step('connect', () => 1);
        yield* elicitUrl.complete('connect');
      })(),
    );
    return 'done';
  });
  const { state, steps } = suspended(await start(program));
  const world = new World();
  const outcome = await turn(
    program,
    state,
    { [steps[0]!.stepId]: answered({ action: 'accept' }) },
    world,
  );
  expect(completed(outcome)).toBe('done');
  expect(world.told).toEqual([{ completed: 'bank/connect' }]);
});

it('complete tells of the newest page although a step of the same ID follows it', async () => {
  const program = sagaOf(function* () {
    yield* elicitUrl('connect', page);
    yield* elicitUrl('connect', page);
    yield* step('connect', () => 1);
    yield* elicitUrl.complete('connect');
    return 'done';
  });
  const accept = answered({ action: 'accept' });
  const { state } = suspended(await start(program));
  const second = suspended(await turn(program, state, { connect: accept }));
  const world = new World();
  expect(completed(await turn(program, second.state, { 'connect#2': accept }, world))).toBe('done');
  expect(world.told).toEqual([{ completed: 'connect#2' }]);
});
