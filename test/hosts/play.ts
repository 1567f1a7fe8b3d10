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
  /** What is worth to know of a scenario that ended right. */
  readonly remark?: string;
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
  stop(): Promise<void>;
}

const defaultLimitMs = 90_000;
// The model has nothing more to call: what it does not read soon, it never reads.
const graceMs = 5_000;
const lookMs = 100;

/** Drives a host through one scenario, in a home of its own. */
export async function play(host: Host, installed: string, scenario: Scenario, world: World): Promise<Played> {
  const { model, wire } = world;
  const home = await mkdtemp(join(tmpdir(), 'mcp-saga-home-'));
  world.takeEffects();
  wire.clear();
  model.begin(scenario);
  const running = await host.start({
    installed,
    home,
    serverUrl: wire.url,
    modelUrl: model.url,
    scenario,
    prompt: `Call the tool ${scenario.tool}.`,
    isListed: () => wire.frames.some(({ message }) => message.result?.['tools'] !== undefined),
  });
  try {
    let hasEnded = false;
    void running.ended.then(() => {
      hasEnded = true;
    });
    const limit = Date.now() + (scenario.limitMs ?? defaultLimitMs);
    let last = limit;
    while (Date.now() < last && !hasEnded && !(model.hasSpoken && missing(scenario, model) === undefined)) {
      // A task goes on behind the result that the model reads first.
      if (model.hasSpoken && scenario.isTask !== true) last = Math.min(last, Date.now() + graceMs);
      // oxlint-disable-next-line no-await-in-loop -- looks again
      await elapsed(lookMs);
    }
    const { output } = running;
    const { frames } = wire;
    return { scenario, ...verdictOf(scenario, world), calls: model.calls, frames, output };
  } finally {
    await running.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function verdictOf(
  scenario: Scenario,
  { model, wire, takeEffects }: World,
): Pick<Played, 'problem' | 'remark'> {
  const performed = takeEffects();
  if (performed.join('\n') !== scenario.effects.join('\n'))
    return { problem: performed.length === 0 ? 'no effect' : `effects: ${performed.join('; ')}` };
  if (!model.hasSpoken) return { problem: 'no end' };
  const text = missing(scenario, model);
  if (text === undefined) return model.calls > 1 ? { remark: `${model.calls} calls` } : {};
  const isSent = wire.frames.some(({ message }) => JSON.stringify(message).includes(text));
  if (scenario.isLarge === true && isSent) return { remark: 'cut by the host' };
  return { problem: `the model never reads “${text}”` };
}

/** The first text that the model should have read, in this order, and has not. */
function missing({ shown }: Scenario, { read }: ScriptedModel): string | undefined {
  let from = 0;
  for (const text of shown) {
    const at = read.indexOf(text, from);
    if (at < 0) return text;
    from = at + text.length;
  }
  return undefined;
}

function elapsed(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
