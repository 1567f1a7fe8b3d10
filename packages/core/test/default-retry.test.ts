import { describe, expect, it } from 'vitest';
import { step, type StepOptions } from '../src/index.ts';
import { start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';
import { toRetryPlan } from '../src/values/retry.ts';

const down = (): never => {
  throw new Error('down');
};
const retries = (attempts: number, delayMs: number = 200) =>
  toRetryPlan('a', { attempts, delay: delayMs, jitter: false });
const settings = { replace: { stepRetry: retries(3) } };

/** Number of attempts of a step and of its undo, which fail each time. */
async function attemptsWith(
  options: Pick<StepOptions<undefined>, 'retry' | 'once' | 'reads' | 'undo'>,
): Promise<Record<string, number>> {
  const world = new World();
  const program = sagaOf(
    function* () {
      yield* step('done', () => 1, { compensate: down });
      yield* step('fails', down, options as { retry: number });
      return 'done';
    },
    { reuse: 'ok' },
  );
  expect((await start(program, {}, world, settings)).status).toBe('failed');
  const attempts: Record<string, number> = {};
  for (const { type, path } of world.events)
    if (type === 'started') attempts[path] = (attempts[path] ?? 0) + 1;
  return attempts;
}

describe('the default retry policy of a host', () => {
  it('[E2] applies to a step that names none', async () => {
    expect(await attemptsWith({})).toMatchObject({ fails: 3 });
    expect(await attemptsWith({ reads: true })).toMatchObject({ fails: 3 });
  });

  it.each([1, 2, 4])('[E2] does not apply to a step with retry: %s', async (retry) => {
    expect(await attemptsWith({ retry })).toMatchObject({ fails: retry });
  });

  it('[E2] does not apply to a step that runs at most once, unless the step says how often', async () => {
    expect(await attemptsWith({ once: true })).toMatchObject({ fails: 1 });
    expect(await attemptsWith({ once: true, retry: 2 })).toMatchObject({ fails: 2 });
  });

  it('[E2] does not apply to undos, which have three attempts', async () => {
    const world = new World();
    const program = sagaOf(
      function* () {
        yield* step('a', () => 1, { compensate: down });
        yield* step('b', () => 1, {
          compensate: function* () {
            yield* step('part', down);
          },
          undo: { retry: 2 },
        });
        throw new Error('no');
      },
      { reuse: 'ok' },
    );
    await start(program, {}, world, { replace: { stepRetry: retries(9) } });
    const begun = world.events.filter(({ type }) => type === 'started').map(({ path }) => path);
    expect(begun.filter((path) => path === '~a')).toHaveLength(3);
    expect(begun.filter((path) => path === '~b/part')).toHaveLength(2);
  });

  it('[E2] may change between two attempts', async () => {
    const world = new World();
    let tries = 0;
    const program = sagaOf(function* () {
      const fails = (): number => {
        tries += 1;
        if (tries < 3) throw new Error('down');
        return tries;
      };
      yield* step('fails', fails);
      yield* ask('go');
      return 'done';
    });
    const delayed = retries(2, 10_000);
    const first = suspended(
      await start(program, {}, world, {
        budget: 60_000,
        maxHold: 0,
        replace: { stepRetry: delayed },
      }),
    );
    expect(first.retryAfterMs).toBe(10_000);
    world.time += 10_000;
    const second = suspended(await turn(program, first.state, {}, world, settings));
    expect(second.steps).toMatchObject([{ stepId: 'go' }]);
  });
});
