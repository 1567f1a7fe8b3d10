import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Fields } from '../../support/wire/channel.ts';
import type { Subject } from '../subject.ts';
import { accepted, completed } from './answers.ts';
import { sagaMethods } from './carriers.ts';
import { ask, clientOf } from './wire.ts';

/** Tests effects: undone when necessary, and never run twice. */
export function effectsSuite(subject: Subject): void {
  const resume = async (sagaToken: string, completedSteps: readonly object[]): Promise<Fields> => {
    const { result, error } = await ask(subject.mcp(), 'tools/resumeSaga', {
      sagaToken,
      completedSteps,
    });
    return result ?? { error };
  };
  const done = async (label: string): Promise<readonly string[]> =>
    (await subject.effects(label)).map(({ what }) => what);

  describe('effects on a runtime', () => {
    it('[P1] [E3] are undone if the user declines', async () => {
      const label = randomUUID();
      const way = { dialect: 'multi round-trip', era: '2026-07-28' } as const;
      const client = clientOf(() => subject.mcp(), way, {
        'elicitation/create': { action: 'decline' },
      });
      const result = await client.call('order', { label });
      expect(result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/Undone: 'reserve'\.$/) }],
      });
      expect(await done(label)).toEqual(['reserve', 'release']);
    });

    it('[P1] [E6] are undone if the saga is cancelled', async () => {
      const label = randomUUID();
      const sagaToken = await sagaMethods.begin(subject.mcp(), label);
      const { result } = await ask(subject.mcp(), 'tools/cancelSaga', { sagaToken });
      expect(result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringMatching(/Undone: 'reserve'\.$/) }],
      });
      const effects = await subject.effects(label);
      expect(effects.map(({ what }) => what)).toEqual(['reserve', 'release']);
      expect(effects[0]?.idempotencyKey).not.toBe(effects[1]?.idempotencyKey);
    });

    it('[P1] [T13] [E7] are not repeated under a guard, which refuses other answers', async () => {
      const label = randomUUID();
      const start = { name: 'ticket', arguments: { label } };
      const { result } = await ask(subject.mcp(), 'tools/callSaga', start);
      const sagaToken = String(result?.['sagaToken']);
      const here = completed('place', accepted({ place: 'here' }));
      const both = await Promise.all([resume(sagaToken, here), resume(sagaToken, here)]);
      for (const one of both) expect(one).toMatchObject({ content: [{ text: 'Stamped at here' }] });
      const elsewhere = await resume(
        sagaToken,
        completed('place', accepted({ place: 'elsewhere' })),
      );
      expect(elsewhere).toEqual({ error: sagaMethods.refused });
      expect(await done(label)).toEqual(['stamp']);
    });
  });
}
