import { afterEach, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import {
  createSagaHost,
  elicit,
  generateKey,
  saga,
  step,
  type SagaHost,
  type SagaHostOptions,
} from '../../src/index.ts';
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

let asked = 0;
const restless = saga({ name: 'restless', version: '1' }, function* () {
  asked += 1;
  yield* elicit('sure', { message: `Pay before ${asked}?`, schema: z.object({ card: z.string() }) });
  return '';
});

/** Answers so many times in vain. */
async function restlessTurns(
  host: SagaHost,
  turns: number,
  after: () => unknown = () => undefined,
): Promise<void> {
  let turn = await host.start('restless', {});
  for (let count = 0; count < turns; count += 1) {
    const token = turn.status === 'suspended' ? turn.token : '';
    const result = { action: 'accept', content: { card: '4711' } } as const;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    turn = await host.resume(token, [{ stepId: 'sure', result }]);
    after();
  }
  expect(turn).toMatchObject({ status: 'suspended' });
}

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

  test.each(['production', 'staging', 'development'])(
    '[T6, W4] says that a question never takes an answer, where NODE_ENV is %s, and neither question nor answer',
    async (environment) => {
      const warn = vi.spyOn(console, 'warn').mockReturnValue();
      const host = hostOf({ sagas: [restless], environment });
      await restlessTurns(host, 1);
      const said = warn.mock.calls.map(([message]) => String(message));
      expect(said).toEqual([expect.stringContaining("'restless' asks 'sure' otherwise than before")]);
      expect(said[0]).toMatch(/now\(\).*random\(\)/);
      expect(said.join()).not.toMatch(/Pay|4711/);
    },
  );

  test('[W4] says once a minute for each saga that a question never takes an answer', async () => {
    let time = 0;
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const host = hostOf({ sagas: [restless], clock: () => time });
    await restlessTurns(host, 3, () => (time += 59_999));
    expect(warn).toHaveBeenCalledTimes(2);
  });

  test('[W4] says nothing of an answer that its client can mend', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const host = hostOf();
    const turn = await host.start('asking', {});
    const answers = ['unknown', 'target'].map((stepId) => ({
      stepId,
      result: { action: 'accept', content: {} },
    }));
    await host.resume(turn.status === 'suspended' ? turn.token : '', answers);
    expect(warn).not.toHaveBeenCalled();
  });
});
