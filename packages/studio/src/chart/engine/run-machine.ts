import { activeIds, isMachine, lastScheduled, readChart } from '@mcp-saga/xstate/internal';
import { createActor } from 'xstate';
import type { AnyActor, AnyMachineSnapshot, AnyStateMachine, InspectionEvent } from 'xstate';
import { loaderOf } from '../../engine/load-files.ts';
import type { CompiledFile } from '../../model/session.ts';
import type {
  MachineRequest,
  MachineStep,
  MachineView,
  RunningMachine,
} from '../model/machine-view.ts';
import { MachineClock } from './machine-clock.ts';
import { machineModules, logicsOf } from './machine-modules.ts';
import { nameOf, WaitingActors } from './waiting-actors.ts';

/** Evaluates the files, starts the machine, and takes steps until a step does not fit. */
export async function runMachine({ files, input, steps }: MachineRequest): Promise<MachineView> {
  // Each step runs the code again, with the same random numbers.
  let seed = 20_000;
  Math.random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const waiting = new WaitingActors();
  const { started: actors } = waiting;
  const machine = findMachine(files, waiting);
  const clock = new MachineClock();
  const setDelay = (run: () => void, delayMs: number): unknown => {
    const { event: { type } = { type: '' }, source } = lastScheduled(root) ?? {};
    const at = actors.indexOf(source as AnyActor);
    const delay = chartOf(actors[at])?.transitions.find((each) => each.type === type);
    const name = delay === undefined ? type : `${delay.label} in ${delay.source}`;
    return clock.add({ machine: String(at), type, name, dueMs: clock.nowMs + delayMs, run });
  };
  const delays = { setTimeout: setDelay, clearTimeout: clock.remove };
  const inspect = (seen: InspectionEvent): unknown =>
    seen.type === '@xstate.actor' && actors.push(seen.actorRef as AnyActor);
  const root: AnyActor = createActor(machine, { clock: delays, inspect, input } as never);
  // Without an observer, XState throws the error again in a timer.
  root.subscribe({ error: () => undefined });
  root.start();
  const history = [{ what: 'start', value: await settledValue(root) }];
  let problem: string | undefined;
  try {
    for (const step of steps) {
      const what = take(step, clock, waiting);
      history.push({ what, value: await settledValue(root) });
    }
  } catch (error) {
    problem = `The history stops: step ${history.length} no longer fits. ${(error as Error).message}`;
  }
  return {
    machines: actors.flatMap((actor, index) => toMachine(actor, String(index))),
    nowMs: clock.nowMs,
    timers: clock.timers,
    actors: waiting.list(),
    history,
    problem,
  };
}

/**
 * Returns the machine of an actor, unless it is another actor, or has ended. The machine of the
 * page stays.
 */
function toMachine(actor: AnyActor, key: string): readonly RunningMachine[] {
  const chart = chartOf(actor);
  const snapshot = actor.getSnapshot();
  if (chart === undefined || (key !== '0' && snapshot.status !== 'active')) return [];
  const { name: title } = chart.root;
  const name = key === '0' || actor.id === title ? title : `${title} (${nameOf(actor)})`;
  const facts = { context: toJson(snapshot.context), result: resultOf(snapshot) };
  return [{ key, name, chart, status: snapshot.status, active: activeIds(snapshot), ...facts }];
}

function chartOf(actor: AnyActor | undefined): RunningMachine['chart'] | undefined {
  return isMachine(actor?.logic) ? readChart(actor.logic) : undefined;
}

/**
 * Finds the first exported machine that no other exported machine uses, or the newest machine of
 * the code.
 */
function findMachine(files: readonly CompiledFile[], waiting: WaitingActors): AnyStateMachine {
  const made: AnyStateMachine[] = [];
  const load = loaderOf(files, machineModules(waiting, made));
  const exported = files
    .flatMap(({ name }) => Object.values(load(`./${name}`, name)))
    .filter(isMachine);
  const isInside = (inner: AnyStateMachine): boolean =>
    exported.some((outer) => outer !== inner && logicsOf(outer).includes(inner));
  const machine = exported.find((each) => !isInside(each)) ?? exported[0] ?? made.at(-1);
  if (machine === undefined)
    throw new Error('The code makes no machine. Add: export const machine = createMachine({ … });');
  return machine;
}

function take(step: MachineStep, clock: MachineClock, waiting: WaitingActors): string {
  if (step.type === 'skip') return `clock +${clock.skip(step.toMs) / 1000} s`;
  if (step.type !== 'send')
    return `${step.type} ${waiting.settle(step.actor, step.type, step.value)}`;
  waiting.started[Number(step.to)]?.send(step.event);
  return step.event.type;
}

/** Returns the state value after all promises have reported. */
async function settledValue(actor: AnyActor): Promise<string> {
  await new Promise((resolve) => void setTimeout(resolve));
  const { value } = actor.getSnapshot();
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function resultOf({ status, output, error }: AnyMachineSnapshot): string | undefined {
  if (status === 'error') return error instanceof Error ? error.message : toJson(error);
  return output === undefined ? undefined : toJson(output);
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value, printable, 2) ?? 'undefined';
  } catch {
    return String(value);
  }
}

/** Prints values without a form in JSON. */
function printable(_: string, value: unknown): unknown {
  if (value instanceof Map || value instanceof Set) return [...value];
  if (typeof value === 'bigint') return `${value}n`;
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}
