import { OutcomeUnknown } from '@mcp-saga/server';
import type { StepCall } from '@mcp-saga/server/internal';
import { SagaTestError } from '../values/errors.ts';
import { Crash, noteOn, type World } from './world.ts';

// As they are when the kit is loaded: a test may put fake timers in their place.
const { setTimeout: realTimeout, clearTimeout: clearReal } = globalThis;

/** Runs a step by the script: its code or a stand-in, with the scripted faults. */
export async function perform(world: World, call: StepCall): Promise<unknown> {
  const path = world.idOf(call.path);
  const run = (world.runs.get(path) ?? 0) + 1;
  world.runs.set(path, run);
  if (world.ended === 0 || world.running > 0) world.fresh.add(`${path} ${run}`);
  world.running += 1;
  try {
    return await performRun(world, call, path, run);
  } finally {
    world.running -= 1;
    world.ended += 1;
  }
}

async function performRun(world: World, call: StepCall, path: string, run: number): Promise<unknown> {
  const { step } = call;
  if (run === 1 && world.foresee !== undefined) world.rules.add(...world.foresee(path));
  if (world.dead) throw new Crash();
  diesAt(world, path, 'before', run);
  const fault = faultOf(world, path, run);
  if (fault?.kind === 'fail') throw fault.error;
  if (fault?.kind === 'timeout') throw await timedOut(world, path, call);
  const result = await taped(world, path, run, () =>
    world.clock.during(toldWhenSlow(path, carryOut(world, path, call))),
  );
  world.calls.set(path, { input: step.input, key: step.idempotencyKey, result });
  diesAt(world, path, 'after', run);
  if (fault?.kind === 'lose')
    throw new OutcomeUnknown(`The response of '${path}' was lost, as the script says.`);
  if (call.kind === 'poll') world.tell({ type: 'polled', id: path, attempt: step.attempt, result });
  return result;
}

/** @throws Crash where the process dies here */
function diesAt(world: World, id: string, when: 'before' | 'after', run: number): void {
  const rule = world.rules.crash(id, when, run);
  if (rule === undefined) return;
  world.use(rule);
  throw world.crash({ type: 'crashed', when, id });
}

/** Runs code and stores its outcome, or plays the outcome of another run. */
async function taped(
  world: World,
  path: string,
  run: number,
  code: () => Promise<unknown>,
): Promise<unknown> {
  const played = world.playback?.calls.get(path)?.[run - 1];
  if (played === undefined) {
    const { calls } = world.tape;
    try {
      const result = await code();
      noteOn(calls, path, { result });
      return result;
    } catch (thrown) {
      noteOn(calls, path, { thrown });
      if (thrown instanceof SagaTestError) world.objection ??= thrown;
      throw thrown;
    }
  }
  if ('thrown' in played) throw played.thrown;
  return played.result;
}

function faultOf(world: World, path: string, run: number) {
  // One that has held as often as it may gives way to the one before it.
  const rule = world.rules.find(
    ['fail', 'timeout', 'lose'],
    path,
    (each) =>
      (!('times' in each) || (world.used.get(each) ?? 0) < each.times) &&
      (!('from' in each) || run >= each.from),
  );
  if (rule !== undefined) world.use(rule, rule.times);
  return rule;
}

/** Error of a step that takes too long: of its own timeout, or of the script. */
async function timedOut(world: World, path: string, { step: { signal } }: StepCall): Promise<unknown> {
  await world.clock.stall(signal);
  if (signal.aborted) return signal.reason;
  return Object.assign(new Error(`Step '${path}' timed out, as the script says.`), {
    name: 'TimeoutError',
    code: 'timeout',
  });
}

async function carryOut(world: World, path: string, call: StepCall): Promise<unknown> {
  const { kind, undoes, step, run } = call;
  const { turn } = world;
  const rule = world.rules.find(['step'], path);
  if (rule !== undefined) world.use(rule);
  let took = false;
  const { idempotencyKey: key, stepKey, ...rest } = step;
  const watch = (value: string | undefined): PropertyDescriptor => ({
    enumerable: true,
    get: () => {
      took = true;
      return value;
    },
  });
  // By the key of its step an undo is known again as well as by its own.
  const watched = Object.defineProperties(
    { ...rest },
    { idempotencyKey: watch(key), ...(stepKey === undefined ? {} : { stepKey: watch(stepKey) }) },
  );
  const sleep = (ms: number): Promise<void> => world.clock.sleepInWork(ms, step.signal);
  const code =
    rule === undefined
      ? run
      : typeof rule.result === 'function'
        ? (rule.result as (step: object) => unknown)
        : () => rule.result;
  if (rule !== undefined) Object.defineProperty(watched, 'sleep', { value: sleep });
  const ended = world.ledger.begin([
    ...(key === undefined ? [] : [[key, path] as const]),
    ...(stepKey === undefined || undoes === undefined ? [] : [[stepKey, world.idOf(undoes)] as const]),
  ]);
  let result: unknown;
  try {
    result = await code(watched);
  } finally {
    ended();
  }
  if (kind === 'step' && key !== undefined) {
    world.ledger.note({ id: path, key, undoes, took, standIn: rule !== undefined }, turn);
    if (undoes !== undefined) world.undone.add(world.idOf(undoes));
  }
  return result;
}

/** Options of `toldWhenSlow`. */
export interface Watch {
  /** Real time before the warning, in milliseconds. Default 2000. */
  readonly afterMs?: number;
  /** Receives the warning. Default: the console, since a test runner that times out prints nothing else. */
  readonly tell?: (warning: string) => void;
}

/** Waits for the code of a step, and names the step if that takes long. */
export async function toldWhenSlow<T>(
  id: string,
  work: PromiseLike<T>,
  // oxlint-disable-next-line no-console -- nobody else is there to be told
  { afterMs = 2_000, tell = (warning) => console.warn(warning) }: Watch = {},
): Promise<T> {
  const timer = realTimeout(() => {
    tell(
      `The code of step '${id}' has been running for ${afterMs / 1_000} s. Does it wait for something that never comes, or for a ` +
        'timer of its own? A stand-in answers at once: .on.step(…); its `sleep` waits by the clock of the run.',
    );
  }, afterMs);
  try {
    return await work;
  } finally {
    clearReal(timer);
  }
}
