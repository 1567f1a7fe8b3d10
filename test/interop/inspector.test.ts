import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployed, play, questions } from './support/play.ts';
import { type PeerProcess, startPeer } from './support/run-in-node.ts';

let mcpdo: PeerProcess;
let cli: PeerProcess;
beforeAll(async () => {
  const inspector = '@modelcontextprotocol/inspector@2.12.0';
  mcpdo = await startPeer('mcpdo.ts', inspector);
  cli = await startPeer('inspector-cli.ts', inspector);
});
afterAll(() => Promise.all([mcpdo, cli].map((peer) => peer.stop())));

describe.each([
  { place: 'stateless HTTP', era: 'modern', revision: '2026-07-28', hasSession: false },
  { place: 'a session over HTTP', era: 'legacy', revision: '2025-11-25', hasSession: true },
  { place: 'stdio', era: 'modern', revision: '2026-07-28', hasSession: false },
  { place: 'stdio', era: 'legacy', revision: '2025-11-25', hasSession: false },
] as const)('mcpdo over $place, $era', ({ place, era, revision, hasSession }) => {
  const way = { place, era, elicitation: true } as const;
  const client = { revision, declared: ['elicitation', 'roots', 'extensions'], hasSession };

  it('[W1] asks its user, and the host asks its own model', async () => {
    const played = await play(mcpdo, { ...way, tool: 'complex_tool', hasModel: true });
    expect(played).toMatchObject({ client, asked: [questions[0]], calls: 1, text: deployed });
    expect(played.effects).toEqual(['deploy']);
  });

  it('[W1] asks its user twice in one call', async () => {
    const played = await play(mcpdo, { ...way, tool: 'asked_tool' });
    expect(played).toMatchObject({ client, asked: questions, calls: 1, text: deployed });
    expect(played.effects).toEqual(['deploy']);
  });

  it('[W1] [W2] asks its user, and its model answers the other questions', async () => {
    const played = await play(mcpdo, { ...way, tool: 'complex_tool' });
    expect(played).toMatchObject({
      asked: [questions[0]],
      calls: 2,
      tokensShown: true,
      text: deployed,
    });
    expect(played.effects).toEqual(['deploy']);
  });
});

// They declare only roots and extensions, so a server cannot ask: these clients use resume tokens,
// too.
const declared = ['roots', 'extensions'];
describe.each([
  { name: 'mcpdo --elicit off', place: 'stateless HTTP', era: 'modern', declared },
  { name: 'mcpdo --elicit off', place: 'a session over HTTP', era: 'legacy', declared },
  { name: 'mcpdo --elicit off', place: 'stdio', era: 'legacy', declared },
  // Each call uses its own connection, and over stdio its own server process.
  { name: '--cli', place: 'stateless HTTP', era: 'modern', declared },
  { name: '--cli', place: 'stateless HTTP', era: 'legacy', declared: 'unknown' },
  { name: '--cli', place: 'a session over HTTP', era: 'legacy', declared },
  { name: '--cli', place: 'stdio', era: 'modern', declared },
  { name: '--cli', place: 'stdio', era: 'legacy', declared },
] as const)('the Inspector, $name, over $place, $era', ({ name, place, era, declared: known }) => {
  it('[W2] shows the token, and continues with token and answers', async () => {
    const run = name === '--cli' ? cli : mcpdo;
    const played = await play(run, { place, era, elicitation: false, tool: 'complex_tool' });
    expect(played).toMatchObject({
      client: { declared: known },
      asked: [],
      calls: 3,
      tokensShown: true,
    });
    expect(played).toMatchObject({ text: deployed, isError: false });
    expect(played.effects).toEqual(['deploy']);
  });
});
