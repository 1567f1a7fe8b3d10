import { describe, expect, test } from 'vitest';
import { elicit, log, progress, saga, step, TokenRefused, type HostHooks } from '@mcp-saga/server';
import { accept, completed, hostOf, suspended } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import { thrownBy } from '../fixtures/thrown-by.ts';
import { z } from 'zod';

/** Hooks that all fail, at once or later. */
function failing(how: 'throw' | 'reject', errors: unknown[]): HostHooks {
  const fail = (hook: string) => (): void => {
    const error = new Error(hook);
    if (how === 'throw') throw error;
    return Promise.reject(error) as unknown as void;
  };
  return {
    onReject: fail('onReject'),
    onIgnoredAnswer: fail('onIgnoredAnswer'),
    onStep: fail('onStep'),
    onTurn: fail('onTurn'),
    onWarning: fail('onWarning'),
    onError: (error) => {
      errors.push((error as Error).message);
      return fail('onError')();
    },
  };
}

describe.each(['throw', 'reject'] as const)('hooks that %s', (how) => {
  test('[E1] neither fail a completed step nor run it again', async () => {
    const errors: unknown[] = [];
    const runs: number[] = [];
    const charging = saga({ name: 'charging', version: '1' }, function* () {
      yield* progress(1);
      yield* log('info', 'x');
      const charged = yield* step('charge', ({ attempt }) => runs.push(attempt), { retry: 3 });
      yield* elicit('go', { message: 'Go?', schema: Empty });
      return `charged ${charged}`;
    });
    const { host } = hostOf(charging, {
      hooks: failing(how, errors),
      limits: { maxTokenBytes: 1600 },
    });
    const caller = { progress: failing(how, errors).onError!, log: failing(how, errors).onError! };
    const first = suspended(await host.start('charging', {}, { caller }));
    const again = suspended(await host.resume(first.token, [accept('nothing', {})]));
    const refused = await thrownBy(TokenRefused, host.resume('nonsense'));
    expect(refused.message).toBe('Invalid or expired sagaToken');
    expect(completed(await host.resume(again.token, [accept('go', {})])).result).toBe('charged 1');
    expect(runs).toEqual([1]);
    expect(errors).toEqual(
      expect.arrayContaining(['onReject', 'onIgnoredAnswer', 'onStep', 'onTurn', 'onWarning']),
    );
  });
});

test('[R2] onError receives the error of a schema, which ends its step', async () => {
  const errors: unknown[] = [];
  const schema = z.object({
    n: z.int().refine(() => {
      throw new RangeError('refine');
    }),
  });
  const asks = saga({ name: 'asks', version: '1' }, function* () {
    try {
      yield* elicit('n', { message: 'How many?', schema });
    } catch (error) {
      return (error as Error).message;
    }
    return 'asked';
  });
  const { host } = hostOf(asks, { hooks: { onError: (error) => errors.push(error) } });
  const { token } = suspended(await host.start('asks', {}));
  expect(completed(await host.resume(token, [accept('n', { n: 1 })])).result).toBe('refine');
  expect(errors).toEqual([new RangeError('refine')]);
});

test('hooks are called as methods of their object', async () => {
  class Logger {
    readonly turns: number[] = [];
    onTurn(turn: { readonly turn: number }): void {
      this.turns.push(turn.turn);
    }
  }
  const logger = new Logger();
  const done = saga({ name: 'done', version: '1' }, function* () {
    yield* step('x', () => 1);
    return 'done';
  });
  await hostOf(done, { hooks: logger }).host.start('done', {});
  expect(logger.turns).toEqual([1]);
});
