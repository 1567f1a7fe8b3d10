/**
 * Writes a set of golden tokens: `pnpm generate golden VERSION`. A set has three files, for sagas,
 * for machines, and for sagas with a trace.
 *
 * A set shows that a token of a released version opens in every later one. Until the first release,
 * no token is in flight: a change of a format writes set 1 again. From then on the sets are frozen,
 * and a new format needs a new set beside them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { publishedTestKeys } from '@mcp-saga/seal';
import type { SagaTelemetry } from '@mcp-saga/server';
import { engineVersion } from '@mcp-saga/server/internal';
import { finish, goldenHost, goldenTrace, tracing, type GoldenFile } from './host.ts';
import { machineStories } from './machines.ts';
import { stories, type GoldenStory } from './sagas.ts';

const [version = ''] = process.argv.slice(2);
if (!/^[1-9]\d*$/.test(version)) throw new Error('Usage: pnpm generate golden VERSION');
const isReleased = execFileSync('git', ['tag', '--list', 'v*'], { encoding: 'utf8' }) !== '';
if (isReleased && existsSync(new URL(`${version}.json`, import.meta.url)))
  throw new Error(`Golden tokens ${version} are released, and stay as they are.`);

// A published test key, which hosts reject outside of tests.
const key = `golden:${publishedTestKeys[2]}`;
const sealedAt = Date.now();

await write(`${version}.json`, stories);
await write(`${version}.machines.json`, machineStories);
await write(`${version}.traced.json`, stories, tracing);

async function write(
  file: string,
  told: Readonly<Record<string, GoldenStory>>,
  telemetry?: SagaTelemetry,
): Promise<void> {
  const tokens: Record<string, GoldenFile['tokens'][string]> = {};
  for (const [name, story] of Object.entries(told)) {
    const host = goldenHost(key, () => sealedAt, telemetry === undefined ? {} : { telemetry });
    let turn = await host.start(story.saga.name, story.args);
    for (const answers of story.before) {
      if (turn.status !== 'suspended') throw new Error(`'${name}' has ended`);
      turn = await host.resume(turn.token, answers);
    }
    if (turn.status !== 'suspended') throw new Error(`'${name}' has ended`);
    const later = goldenHost(key, () => sealedAt + story.pause);
    tokens[name] = { token: turn.token, result: await finish(later, story, turn.token) };
  }
  const traced = telemetry === undefined ? {} : { trace: goldenTrace };
  const golden: GoldenFile = { engine: engineVersion, key, sealedAt, ...traced, tokens };
  writeFileSync(new URL(file, import.meta.url), `${JSON.stringify(golden, null, 2)}\n`);
  console.log(`${file} holds ${Object.keys(tokens).length} tokens of engine ${engineVersion}.`);
}
