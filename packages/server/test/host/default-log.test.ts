import { afterEach, describe, expect, test, vi } from 'vitest';
import { createSagaHost, generateKey, saga, step, type SagaHostOptions } from '../../src/index.ts';
import { asking } from '../fixtures/sagas.ts';

const keys = generateKey();
const failing = saga({ name: 'failing', version: '1' }, function* () {
  yield* step('charge', () => {
    throw new RangeError('card 4711');
  });
  return '';
});
const hostOf = (options: Partial<SagaHostOptions> = {}) =>
  createSagaHost({ sagas: [failing, asking()], keys, audience: 'a', environment: 'production', ...options });

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a host without hooks', () => {
  test('says in the console that a saga failed, and where, but not what was thrown', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    await hostOf().start('failing', {});
    expect(error.mock.calls).toEqual([
      [
        "mcp-saga: 'failing' failed in turn 1. StepError (step_failed) at step 'charge'. hooks.onTurn gets the error.",
      ],
    ]);
  });

  test('shows the error in development', async () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    await hostOf({ environment: 'development' }).start('failing', {});
    expect(error.mock.calls[0]?.[1]).toMatchObject({ name: 'RangeError', message: 'card 4711' });
  });

  test('[T5] says once a minute for each reason that tokens are refused', async () => {
    let time = 1_000_000;
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const host = hostOf({ clock: () => time });
    const stranger = createSagaHost({ sagas: [asking()], keys: generateKey(), audience: 'a', hooks: {} });
    const turn = await stranger.start('asking', {});
    const token = turn.status === 'suspended' ? turn.token : '';
    for (const wait of [0, 1_000, 60_000]) {
      time += wait;
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(host.resume(token)).rejects.toThrow('Invalid or expired sagaToken');
    }
    expect(warn.mock.calls.map(([message]) => String(message))).toEqual([
      expect.stringContaining('a token was refused: undecryptable'),
      expect.stringContaining('a token was refused: undecryptable'),
    ]);
  });
});
