import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from './host.ts';
import type { ScriptedModel } from './model/model.ts';
import type { Scenario } from './scenarios.ts';
import type { Frame, Wire } from './wire.ts';

/** Outcome of one scenario on a host. */
export interface Played {
  readonly scenario: Scenario;
  /** Reason for a wrong ending; undefined if the scenario ended correctly. */
  readonly problem?: string;
  /** A note on a scenario that ended right. */
  readonly remark?: string;
  /** Number of tool calls by the model. */
  readonly calls: number;
  readonly frames: readonly Frame[];
  /** Screen or output of the host at the end. */
  readonly output: string;
}

/** Servers, proxy, and model around a host. */
export interface World {
  readonly model: ScriptedModel;
  readonly wire: Wire;
  /** Returns the effects recorded since the previous call. */
  readonly takeEffects: () => readonly string[];
  stop(): Promise<void>;
}

const defaultLimitMs = 90_000;
// After the last call, the model reads the missing text soon or never.
const graceMs = 5_000;
const lookMs = 100;

/** Drives a host through one scenario, in an empty home. */
export async function play(
  host: Host,
  installed: string,
  scenario: Scenario,
  world: World,
): Promise<Played> {
  const { model, wire } = world;
  const home = await mkdtemp(join(tmpdir(), 'mcp-saga-home-'));
  world.takeEffects();
  wire.clear(scenario.isCut === true);
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
    await Promise.race([running.ended, over(scenario, world)]);
    const { output } = running;
    const { frames } = wire;
    return { scenario, ...verdictOf(scenario, world), calls: model.calls, frames, output };
  } finally {
    await running.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Waits until the model has read every expected text, or until the time limit. */
async function over(scenario: Scenario, { model, wire }: World): Promise<void> {
  let last = Date.now() + (scenario.limitMs ?? defaultLimitMs);
  while (Date.now() < last && !(model.hasSpoken && missing(scenario, model) === undefined)) {
    // A task continues after the first result.
    const isTask = wire.frames.some(({ message }) => message.result?.['resultType'] === 'task');
    if (model.hasSpoken && !isTask) last = Math.min(last, Date.now() + graceMs);
    await elapsed(lookMs);
  }
}

function verdictOf(
  scenario: Scenario,
  { model, wire, takeEffects }: World,
): Pick<Played, 'problem' | 'remark'> {
  const performed = takeEffects();
  if (scenario.isCut === true) {
    const calls = wire.frames.filter(({ message }) => message.method === 'tools/call').length;
    if (performed.length !== 1) return { problem: `${performed.length} effects in ${calls} calls` };
    return { remark: calls > 1 ? 'calls again' : 'calls once' };
  }
  if (performed.join('\n') !== scenario.effects.join('\n'))
    return { problem: performed.length === 0 ? 'no effect' : `effects: ${performed.join('; ')}` };
  if (!model.hasSpoken) return { problem: 'no end' };
  const text = missing(scenario, model);
  if (text === undefined) return model.calls > 1 ? { remark: `${model.calls} calls` } : {};
  const isSent = wire.frames.some(({ message }) => JSON.stringify(message).includes(text));
  if (scenario.isLarge === true && isSent) return { remark: 'cut by the host' };
  return { problem: `the model never reads “${text}”` };
}

/** Finds the first expected text missing from the model's input. */
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
