import { OutcomeUnknown } from '@mcp-saga/server';
import type { StepCall, StepGiven } from '@mcp-saga/server/internal';
import { SagaTestError } from '../values/errors.ts';
import { Crash, type CallEnd, type CrashRule, type World } from './world.ts';

// Saved at import: a test may install fake timers.
const { setTimeout: realTimeout, clearTimeout: clearReal } = globalThis;

/** Runs a step by the script: its code or a stand-in, with the scripted faults. */
export async function perform(world: World, call: StepCall): Promise<unknown> {
  const path = world.idOf(call.path);
  const run = (world.runs.get(path) ?? 0) + 1;
  world.runs.set(path, run);
  world.running += 1;
  try {
    return await performRun(world, call, path, run);
  } finally {
    world.running -= 1;
  }
}

async function performRun(
  world: World,
  call: StepCall,
  path: string,
  run: number,
): Promise<unknown> {
  const { step } = call;
  if (run === 1 && world.foresee !== undefined) world.rules.add(...world.foresee(path));
  if (world.dead) throw new Crash();
  const name = world.calls.next(path);
  diesAt(world, { kind: 'crash', id: path, when: 'before', run }, name);
  const fault = faultOf(world, path, run);
  // The engine waits for a store that is down. Until then it would ask in vain if the fault has
  // no end.
  const isDown = fault?.kind === 'fail' && step.endsAt !== undefined;
  if (isDown && fault.times === Infinity) world.outside.waits(path, step.endsAt);
  if (isDown) return undefined;
  if (fault?.kind === 'fail') throw fault.error;
  if (fault?.kind === 'timeout') throw await timedOut(world, path, call);
  const result = await taped(world, call, path, run);
  if (result === undefined && step.endsAt !== undefined) world.outside.waits(path, step.endsAt);
  diesAt(world, { kind: 'crash', id: path, when: 'after', run }, name);
  if (call.kind !== 'poll') world.happened(path, step, result);
  if (fault?.kind === 'lose')
    throw new OutcomeUnknown(`The response of '${path}' was lost, as the script says.`);
  if (call.kind === 'poll') world.tell({ type: 'polled', id: path, attempt: step.attempt, result });
  return result;
}

/** @throws Crash if the process dies at this place of a named call */
function diesAt(world: World, here: CrashRule, name: string): void {
  const { id, when, run } = here;
  const place = `${when} ${name}`;
  const isNew = !world.places.has(place);
  world.places.add(place);
  world.deaths.push(here);
  const scripted = world.rules.crash(id, when, run);
  if (scripted !== undefined) world.use(scripted);
  else if (isNew && world.diesOnce !== undefined) world.diesOnce(here);
  else return;
  throw world.crash({ type: 'crashed', when, id });
}

/** Runs code and stores its outcome, or plays the outcome of another run. */
async function taped(world: World, call: StepCall, path: string, run: number): Promise<unknown> {
  const nth = `${path} ${run}`;
  // Answers arrive by the clock.
  const played = call.outside === 'answers' ? undefined : world.playback?.calls.get(nth);
  const ended =
    played ?? (await endOf(world.clock.during(toldWhenSlow(path, carryOut(world, call, path)))));
  world.tape.calls.set(nth, ended);
  if ('result' in ended) return ended.result;
  if (ended.thrown instanceof SagaTestError) world.objection ??= ended.thrown;
  throw ended.thrown;
}

function endOf(code: Promise<unknown>): Promise<CallEnd> {
  return code.then(
    (result) => ({ result }),
    (thrown: unknown) => ({ thrown }),
  );
}

function faultOf(world: World, path: string, run: number) {
  // A used-up rule gives way to the rule before.
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

/** Error of a step timeout, declared or scripted. */
async function timedOut(
  world: World,
  path: string,
  { step: { signal } }: StepCall,
): Promise<unknown> {
  await world.clock.stall(signal);
  if (signal.aborted) return signal.reason;
  return Object.assign(new Error(`Step '${path}' timed out, as the script says.`), {
    name: 'TimeoutError',
    code: 'timeout',
  });
}

async function carryOut(world: World, call: StepCall, path: string): Promise<unknown> {
  const { kind, undoes, outside, step, run } = call;
  const { turn } = world;
  if (outside === 'delivery') world.deliveries.add(path);
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
  // The key of the step identifies a repeated undo as well.
  const watched = Object.defineProperties(
    { ...rest },
    { idempotencyKey: watch(key), ...(stepKey === undefined ? {} : { stepKey: watch(stepKey) }) },
  );
  const sleep = (ms: number): Promise<void> => world.clock.sleepInWork(ms, step.signal);
  const code = rule === undefined ? run : standIn(rule, path, call, sleep);
  if (rule !== undefined) Object.defineProperty(watched, 'sleep', { value: sleep });
  const ended = world.ledger.begin([
    ...(key === undefined ? [] : [[key, path] as const]),
    ...(stepKey === undefined || undoes === undefined
      ? []
      : [[stepKey, world.idOf(undoes)] as const]),
  ]);
  let result: unknown;
  try {
    result = await code(watched);
  } finally {
    ended();
  }
  // A person who has answered gets no reminder.
  const isSkipped = outside !== undefined && outside !== 'answers' && result === null;
  if (kind === 'step' && key !== undefined && !isSkipped) {
    world.ledger.note({ id: path, key, undoes, took, standIn: rule !== undefined }, turn);
    if (undoes !== undefined) world.undone.add(world.idOf(undoes));
  }
  return result;
}

/**
 * Code of a stand-in. In a delivery, it replaces the function of the author: the engine still makes
 * the link.
 */
function standIn(
  { result }: { readonly result: unknown },
  path: string,
  { outside, run }: StepCall,
  sleep: (ms: number) => Promise<void>,
): (step: StepGiven) => unknown {
  const given = typeof result === 'function' ? (result as (step: object) => unknown) : () => result;
  if (outside === undefined) return given;
  if (outside !== 'answers')
    return (step) => run({ ...step, standIn: (delivery) => given({ ...delivery, sleep }) });
  const scope = path.slice(0, path.lastIndexOf('/'));
  throw new SagaTestError(
    'script',
    `'${path}' is not a step of the saga: the engine uses it to read the answers. Answer with .on.approval('${scope}', …) or ` +
      `.on.event('${scope}', …). To replace a step that sends links, use .on.step('${scope}/deliver', …).`,
  );
}

export interface Watch {
  /** Real time before the warning, in milliseconds. Default 2000. */
  readonly afterMs?: number;
  /**
   * Receives the warning. Default: the console, as a timeout of a test runner prints nothing else.
   */
  readonly tell?: (warning: string) => void;
}

/** Waits for the code of a step, and names a slow step. */
export async function toldWhenSlow<T>(
  id: string,
  work: PromiseLike<T>,
  // oxlint-disable-next-line no-console -- the only receiver
  { afterMs = 2_000, tell = (warning) => console.warn(warning) }: Watch = {},
): Promise<T> {
  const timer = realTimeout(() => {
    tell(
      `The code of step '${id}' has been running for ${afterMs / 1_000} s. Check the code for a ` +
        'timer or an event that never comes. Replace the code with a stand-in, .on.step(…), whose `sleep` uses the clock of the run.',
    );
  }, afterMs);
  try {
    return await work;
  } finally {
    clearReal(timer);
  }
}
