import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from './host.ts';
import type { ScriptedModel } from './model/model.ts';
import type { Scenario } from './scenarios.ts';
import type { Frame, Wire } from './wire.ts';

/** What a host did in one scenario. */
export interface Played {
  readonly scenario: Scenario;
  /** Why it did not end right; undefined if it did. */
  readonly problem?: string;
  /** How often the model called the tool. */
  readonly calls: number;
  readonly frames: readonly Frame[];
  /** Screen or output of the host at the end. */
  readonly output: string;
}

/** The world in which hosts are driven. */
export interface World {
  readonly model: ScriptedModel;
  readonly wire: Wire;
  /** Effects that the servers recorded since they were last taken. */
  takeEffects(): readonly string[];
}

const defaultLimitMs = 90_000;

/** Drives a host through one scenario, in a home of its own. */
export async function play(host: Host, installed: string, scenario: Scenario, world: World): Promise<Played> {
  const { model, wire } = world;
  const home = await mkdtemp(join(tmpdir(), 'mcp-saga-home-'));
  world.takeEffects();
  wire.clear();
  const said = model.begin(scenario);
  const prompt = `Call the tool ${scenario.tool}.`;
  const running = await host.start({ installed, home, serverUrl: wire.url, modelUrl: model.url, scenario, prompt, isListed: () => wire.frames.some(({ message }) => message.result?.['tools'] !== undefined) });
  try {
    await Promise.race([said, running.ended, elapsed(scenario.limitMs ?? defaultLimitMs)]);
    const { output } = running;
    const problem = problemOf(scenario, model, world.takeEffects());
    return {
      scenario,
      ...(problem === undefined ? {} : { problem }),
      calls: model.calls,
      frames: wire.frames,
      output,
    };
  } finally {
    await running.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function problemOf(
  { effects, shown }: Scenario,
  model: ScriptedModel,
  performed: readonly string[],
): string | undefined {
  if (performed.join('\n') !== effects.join('\n'))
    return performed.length === 0 ? 'no effect' : `effects: ${performed.join('; ')}`;
  if (!model.hasEnded) return 'no end';
  let from = 0;
  const read = model.results.join('\n');
  for (const text of shown) {
    const at = read.indexOf(text, from);
    if (at < 0) return `the model never reads "${text}"`;
    from = at + text.length;
  }
  return undefined;
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
