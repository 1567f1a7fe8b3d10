import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { elicit, elicitUrl, scope, step } from '../src/index.ts';
import type { Command, Steps } from '../src/model/command.ts';
import { answered, completed, failed, start, suspended, turn } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

const page = { message: 'Pay', url: 'https://pay.example/1' };
const agreed = { result: { action: 'accept' }, provenance: 'client' } as const;
const sure = (): Command<unknown> => elicit('sure', { message: 'Sure?', schema: z.object({}) });

describe('elicitUrl.complete', () => {
  it('[W1] [R1] tells the client once, and never on replay', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      yield* elicitUrl('pay', page);
      yield* step('check', () => 'paid');
      yield* elicitUrl.complete('pay');
      yield* sure();
      return 'done';
    });
    const first = suspended(await start(program, {}, world));
    expect(world.told).toEqual([]);
    const second = suspended(await turn(program, first.state, { pay: agreed }, world));
    expect(world.told).toEqual([{ completed: 'pay' }]);
    const sent = { sure: answered({ action: 'accept' }) };
    expect(completed(await turn(program, second.state, sent, world))).toBe('done');
    expect(world.told).toEqual([{ completed: 'pay' }]);
  });

  it('[W1] means the newest page of an ID in its scope, or a page at a full path', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      yield* elicitUrl('pay', page);
      yield* elicitUrl('pay', page);
      yield* elicitUrl.complete('pay');
      yield* scope(
        'inner',
        (function* (): Steps<void> {
          yield* elicitUrl('pay', page);
          yield* elicitUrl.complete('pay');
          yield* elicitUrl.complete('pay#2');
        })(),
      );
      yield* elicitUrl.complete('inner/pay');
      return 'done';
    });
    let { state } = suspended(await start(program, {}, world));
    for (const path of ['pay', 'pay#2'])
      ({ state } = suspended(await turn(program, state, { [path]: agreed }, world)));
    completed(await turn(program, state, { 'inner/pay': agreed }, world));
    expect(world.told).toEqual(
      ['pay#2', 'inner/pay', 'pay#2', 'inner/pay'].map((path) => ({ completed: path })),
    );
  });

  it('[W1] tells nothing of a page that the calling model has shown', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      yield* elicitUrl('pay', page);
      yield* elicitUrl.complete('pay');
      return 'done';
    });
    const { state } = suspended(await start(program, {}, world));
    const byModel = { ...agreed, provenance: 'model' } as const;
    completed(await turn(program, state, { pay: byModel }, world));
    expect(world.told).toEqual([]);
  });

  it('[R1] throws for a page that was not opened, in the same way on replay', async () => {
    const caught: unknown[] = [];
    const program = sagaOf(function* () {
      try {
        yield* elicitUrl.complete('pay');
      } catch (error) {
        caught.push((error as { readonly code: string }).code);
      }
      yield* sure();
      yield* elicitUrl.complete('other');
      return 'done';
    });
    const { state } = suspended(await start(program));
    const error = failed(await turn(program, state, { sure: answered({ action: 'accept' }) }));
    expect(caught).toEqual(['authoring_error', 'authoring_error']);
    expect((error as Error).message).toContain(
      "elicitUrl.complete('other') needs an elicitUrl('other')",
    );
  });
});
