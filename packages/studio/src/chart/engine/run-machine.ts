import { activeIds, isMachine, lastScheduled, readChart, type Chart } from '@mcp-saga/xstate/internal';
import { createActor } from 'xstate';
import type { AnyActor, AnyMachineSnapshot, AnyStateMachine, InspectionEvent } from 'xstate';
import { loaderOf } from '../../engine/load-files.ts';
import type { CompiledFile } from '../../model/session.ts';
import type { MachineRequest, MachineStep, MachineView, RunningMachine } from '../model/machine-view.ts';
import { MachineClock } from './machine-clock.ts';
import { machineModules } from './machine-modules.ts';
import { nameOf, WaitingActors } from './waiting-actors.ts';

/** Evaluates the files, starts the machine, and takes all steps. */
export async function runMachine({ files, input, steps }: MachineRequest): Promise<MachineView> {
  const waiting = new WaitingActors();
  const machine = findMachine(files, waiting);
  // All actors, in the order of their start, which is the same for the same steps.
  const actors: AnyActor[] = [];
  const clock = new MachineClock(() => {
    const { event, source } = lastScheduled(root) ?? {};
    const at = actors.indexOf(source as AnyActor);
    const delay = chartOf(actors[at])?.transitions.find(({ type }) => type === event?.type);
    const name = delay === undefined ? (event?.type ?? '') : `${delay.label} in ${delay.source}`;
    return { machine: String(at), type: event?.type ?? '', name };
  });
  const inspect = (seen: InspectionEvent): void => {
    if (seen.type === '@xstate.actor') actors.push(seen.actorRef as AnyActor);
  };
  const root: AnyActor = createActor(machine, { clock, inspect, input } as never);
  // Without an observer, XState throws the error again in a timer.
  root.subscribe({ error: () => undefined });
  root.start();
  const history = [{ what: 'start', value: await settledValue(root) }];
  for (const step of steps) {
    const what = take(step, { actors, clock, waiting });
    history.push({ what, value: await settledValue(root) });
  }
  return {
    machines: actors.flatMap((actor, index) => toMachine(actor, String(index))),
    nowMs: clock.nowMs,
    timers: clock.timers,
    actors: waiting.list(),
    history,
  };
}

/** Returns the machine of an actor, unless it is another actor, or has ended. The machine of the page stays. */
function toMachine(actor: AnyActor, key: string): readonly RunningMachine[] {
  const chart = chartOf(actor);
  const snapshot = actor.getSnapshot();
  if (chart === undefined || (key !== '0' && snapshot.status !== 'active')) return [];
  const { name: title } = chart.root;
  const name = key === '0' || actor.id === title ? title : `${title} (${nameOf(actor)})`;
  const facts = { context: toJson(snapshot.context), result: resultOf(snapshot) };
  return [{ key, name, chart, status: snapshot.status, active: activeIds(snapshot), ...facts }];
}

/** Reads the chart of a machine; undefined for other actors. */
function chartOf(actor: AnyActor | undefined): Chart | undefined {
  return isMachine(actor?.logic) ? readChart(actor.logic) : undefined;
}

/** Finds the first exported machine, or the machine that the code made last. */
function findMachine(files: readonly CompiledFile[], waiting: WaitingActors): AnyStateMachine {
  const made: unknown[] = [];
  const load = loaderOf(files, machineModules(waiting, made));
  const exported = files.flatMap(({ name }) => Object.values(load(`./${name}`, name)));
  const machine = exported.find(isMachine) ?? made.filter(isMachine).at(-1);
  if (machine === undefined)
    throw new Error('The code makes no machine. Add: export const machine = createMachine({ … });');
  return machine;
}

type Run = Readonly<{ actors: readonly AnyActor[]; clock: MachineClock; waiting: WaitingActors }>;

/** Takes a step, and returns its description. */
function take(step: MachineStep, { actors, clock, waiting }: Run): string {
  switch (step.type) {
    case 'send':
      actors[Number(step.to)]?.send(step.event);
      return step.event.type;
    case 'skip':
      clock.skip(step.byMs);
      return `clock +${step.byMs / 1000} s`;
    case 'resolve':
    case 'reject':
      return `${step.type} ${waiting.settle(step.actor, step.type, step.value)}`;
  }
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
    return JSON.stringify(value, undefined, 2) ?? 'undefined';
  } catch {
    return String(value);
  }
}
