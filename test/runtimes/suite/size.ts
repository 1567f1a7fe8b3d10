import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';
import { accepted, completed } from './answers.ts';
import { ask, clientOf } from './wire.ts';
import { wireWays } from '../../support/wire/ways.ts';

const limit = 64 * 1024;
/** Text from the client, which is compressed. */
const text = 'The quick brown fox jumps over the lazy dog. '.repeat(400);
/** Size of a step result, in incompressible bytes. It gives a token of about 60 KiB. */
const load = 44_800;

/** Dialects without a session, in which the client holds the whole token. */
const carrying = wireWays.filter(({ dialect }) =>
  ['saga methods', 'multi round-trip', 'resume token'].includes(dialect),
);

/** Tests tokens close to the maximum size. */
export function sizeSuite(subject: Subject): void {
  describe.each(subject.sealings)('a large token, sealed by the %s path', (sealing) => {
    const url = (): URL => subject.mcp({ sealing });

    it.each(carrying)(
      '[P1] [T11] makes a round trip at about 60 KiB, by $dialect, $era',
      async (way) => {
        const client = clientOf(url, way, { 'elicitation/create': accepted({ go: true }) });
        const result = await client.call('ballast', { label: randomUUID(), bytes: load, text });
        expect(result).toMatchObject({ content: [{ text: `${load} ${text.length}` }] });
        const [small = '', large = ''] = client.tokens;
        // Both tokens contain the text of 18,000 characters.
        expect(small.length).toBeLessThan(2_000);
        expect(large.length).toBeGreaterThan(59 * 1024);
        expect(large.length).toBeLessThan(61 * 1024);
      },
    );

    it('[P1] [T11] [E4] is refused over 64 KiB when sealed, its steps are undone, and the reason is reported', async () => {
      const label = randomUUID();
      const args = { label, bytes: limit, text: '' };
      const { result: first } = await ask(url(), 'tools/callSaga', {
        name: 'ballast',
        arguments: args,
      });
      const sagaToken = String(first?.['sagaToken']);
      const completedSteps = completed('go', accepted({ go: true }));
      const { result } = await ask(url(), 'tools/resumeSaga', { sagaToken, completedSteps });
      expect(result).toMatchObject({
        isError: true,
        content: [{ type: 'text', text: "'ballast' failed. Undone: 'board'." }],
      });
      expect((await subject.effects(label)).map(({ what }) => what)).toEqual(['board', 'leave']);
      expect(await subject.failures(sagaToken)).toEqual(['token_too_large']);
    });
  });
}
