import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';
import { accepted, completed } from './answers.ts';
import { carriers, tasks } from './carriers.ts';
import { ask } from './wire.ts';

const phases = ['k1', 'k1,k2', 'k2,k1', 'k2'];

/** Tests a key rotation while sagas run. */
export function rotationSuite(subject: Subject): void {
  describe('a key rotation', () => {
    it('[P1] [T7] keeps all running sagas valid, and seals with the first key of each phase', async () => {
      const label = randomUUID();
      const seals: string[] = [];
      let { result } = await ask(subject.mcp({ keys: 'k1' }), 'tools/callSaga', {
        name: 'relay',
        arguments: { label, stops: phases.length },
      });
      for (const [index, keys] of phases.entries()) {
        const sagaToken = String(result?.['sagaToken']);
        seals.push(kidOf(sagaToken));
        const stepId = index === 0 ? 'stop' : `stop#${index + 1}`;
        const completedSteps = completed(stepId, accepted({ place: keys }));
        const turn = await ask(subject.mcp({ keys }), 'tools/resumeSaga', {
          sagaToken,
          completedSteps,
        });
        ({ result } = turn);
      }
      // Each token was sealed in the phase before the one that opens it.
      expect(seals).toEqual(['k1', 'k1', 'k1', 'k2']);
      expect(result).toMatchObject({ content: [{ text: expect.stringContaining('"4 4 k2"') }] });
      const effects = await subject.effects(label);
      expect(effects.map(({ what }) => what)).toEqual(['pass 1', 'pass 2', 'pass 3', 'pass 4']);
    });

    it.each([...carriers, tasks])(
      '[P1] [T5] [T7] refuses tokens of a retired key, by $name',
      async (carrier) => {
        const label = randomUUID();
        const token = await carrier.begin(subject.mcp({ keys: 'k1,k2' }), label);
        // The ID of a stored task has no key ID: the sealed state is in the store.
        if (carrier !== tasks) expect(kidOf(token)).toBe('k1');
        const { error } = await carrier.goOn(subject.mcp({ keys: 'k2' }), label, token);
        expect(error).toEqual(carrier.refused);
      },
    );
  });
}

function kidOf(token: string): string {
  const [header = ''] = token.split('.');
  return String(
    (JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid: unknown }).kid,
  );
}
