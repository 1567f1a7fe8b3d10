import { describe, expect, it } from 'vitest';
import { play } from './play.ts';
import type { PeerProcess } from './run-in-node.ts';
import { deployment } from './sagas.ts';

/**
 * Describes what the model of a framework gets of tools with a recursive output.
 * @param peerOf - called when a test runs: the process starts before all tests
 */
export function describeTypedTools(framework: string, peerOf: () => PeerProcess): void {
  describe.each([
    { place: 'stateless HTTP', era: 'modern' },
    { place: 'stateless HTTP', era: 'legacy' },
  ] as const)(
    `${framework} over $place, $era, and a tool with a recursive output`,
    ({ place, era }) => {
      const way = { place, era, elicitation: false } as const;
      // The text within the JSON of what the model reads.
      const shown = expect.stringContaining(
        JSON.stringify(JSON.stringify(deployment)).slice(1, -1),
      ) as string;

      it('[W2] shows the token and then the result to the model', async () => {
        const played = await play(peerOf(), { ...way, tool: 'typed_tool' });
        expect(played).toMatchObject({ calls: 2, shown, isError: false });
        expect(played.effects).toEqual(['deploy']);
      });

      it('shows the result of a tool that never suspends to the model', async () => {
        const played = await play(peerOf(), { ...way, tool: 'immediate_tool' });
        expect(played).toMatchObject({ calls: 1, shown, isError: false });
        expect(played.effects).toEqual(['deploy']);
      });
    },
  );
}
