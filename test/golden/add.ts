/**
 * Adds files of golden tokens for a release. Run it three times per release: with the release as
 * argument, and again with `machines` and with `traced` after it.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { publishedTestKeys } from '@mcp-saga/seal';
import { engineVersion } from '@mcp-saga/server/internal';
import { finish, goldenHost, goldenTrace, tracing, type GoldenFile } from './host.ts';
import { machineStories } from './machines.ts';
import { stories } from './sagas.ts';

const [release = '', what = ''] = process.argv.slice(2);
if (!/^\d+\.\d+\.\d+$/.test(release))
  throw new Error('Usage: pnpm generate golden 1.2.3 [machines | traced]');
if (!['', 'machines', 'traced'].includes(what))
  throw new Error(`There are no golden tokens '${what}'.`);
const file = new URL(what === '' ? `${release}.json` : `${release}.${what}.json`, import.meta.url);
if (existsSync(file))
  throw new Error(`${release} has its golden tokens already. They stay as they are.`);

// A published test key, which hosts reject outside of tests.
const key = `golden:${publishedTestKeys[2]}`;
const sealedAt = Date.now();
const tokens: Record<string, GoldenFile['tokens'][string]> = {};
for (const [name, story] of Object.entries(what === 'machines' ? machineStories : stories)) {
  const host = goldenHost(key, () => sealedAt, what === 'traced' ? { telemetry: tracing } : {});
  let turn = await host.start(story.saga.name, story.args);
  for (const answers of story.before) {
    if (turn.status !== 'suspended') throw new Error(`'${name}' has ended`);
    turn = await host.resume(turn.token, answers);
  }
  if (turn.status !== 'suspended') throw new Error(`'${name}' has ended`);
  const later = goldenHost(key, () => sealedAt + story.pause);
  tokens[name] = { token: turn.token, result: await finish(later, story, turn.token) };
}
const traced = what === 'traced' ? { trace: goldenTrace } : {};
const golden: GoldenFile = { release, engine: engineVersion, key, sealedAt, ...traced, tokens };
writeFileSync(file, `${JSON.stringify(golden, null, 2)}\n`);
console.log(`It holds ${Object.keys(tokens).length} tokens of engine ${engineVersion}.`);
