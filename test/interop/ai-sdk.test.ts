import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployed, play, questions } from './support/play.ts';
import { type PeerProcess, startPeer } from './support/run-in-node.ts';
import { describeTypedTools } from './support/typed-tools.ts';

let aiSdk: PeerProcess;
beforeAll(async () => {
  aiSdk = await startPeer('ai-sdk.ts', '@ai-sdk/mcp@2.0.99', 'zod@4.6.7');
});
afterAll(() => aiSdk.stop());

// Over stdio, the client waits a second for a 2026-07-28 server, and then assumes an older one. The
// result depends on the speed of the server, so these tests set the era.
describe.each([
  { place: 'stateless HTTP', era: 'modern', revision: '2026-07-28', hasSession: false },
  { place: 'a session over HTTP', era: 'modern', revision: '2025-11-25', hasSession: true },
  { place: 'stdio', era: 'legacy', revision: '2025-11-25', hasSession: false },
] as const)(
  '@ai-sdk/mcp with an elicitation handler, over $place',
  ({ place, era, revision, hasSession }) => {
    const way = { place, era, elicitation: true } as const;
    const client = { revision, declared: ['elicitation'], hasSession };

    it('[W1] asks its user, and the host asks its own model', async () => {
      const played = await play(aiSdk, { ...way, tool: 'complex_tool', hasModel: true });
      expect(played).toMatchObject({ client, asked: [questions[0]], calls: 1, text: deployed });
      expect(played.effects).toEqual(['deploy']);
    });

    it('[W1] asks its user twice in one call', async () => {
      const played = await play(aiSdk, { ...way, tool: 'asked_tool' });
      expect(played).toMatchObject({ client, asked: questions, calls: 1, text: deployed });
      expect(played.effects).toEqual(['deploy']);
    });

    it('[W1] [W2] asks its user, and its model answers the other questions', async () => {
      const played = await play(aiSdk, { ...way, tool: 'complex_tool' });
      expect(played).toMatchObject({
        asked: [questions[0]],
        calls: 2,
        tokensShown: true,
        text: deployed,
      });
      expect(played.effects).toEqual(['deploy']);
    });
  },
);

describe.each([
  { place: 'stateless HTTP', era: 'modern', elicitation: false, declared: [] },
  // A 2025 server without sessions does not see the client's capabilities, and cannot ask the
  // client.
  { place: 'stateless HTTP', era: 'legacy', elicitation: true, declared: 'unknown' },
  { place: 'a session over HTTP', era: 'modern', elicitation: false, declared: [] },
  { place: 'stdio', era: 'legacy', elicitation: false, declared: [] },
] as const)(
  '@ai-sdk/mcp over $place, $era, declaring $declared',
  ({ place, era, elicitation, declared }) => {
    it('[W2] shows the token to the model, which calls again with token and answers', async () => {
      const played = await play(aiSdk, { place, era, elicitation, tool: 'complex_tool' });
      expect(played).toMatchObject({
        client: { declared },
        asked: [],
        calls: 3,
        tokensShown: true,
      });
      expect(played).toMatchObject({ text: deployed, isError: false });
      expect(played.effects).toEqual(['deploy']);
    });
  },
);

describeTypedTools('@ai-sdk/mcp', () => aiSdk);
