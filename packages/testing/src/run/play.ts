import {
  NeedsMissing,
  ReplayMismatch,
  SagaHostError,
  TokenRefused,
  type ClientStep,
  type Program,
  type SagaTurn,
  type StepAnswer,
  type SuspendedTurn,
} from '@mcp-saga/server';
import { answerTo } from '../world/answer-question.ts';
import { assertSound } from './assert-sound.ts';
import { SagaTestError } from '../values/errors.ts';
import { kindOfStep, messageOf } from '../report/question-text.ts';
import type { Ended, Serving, TestRequest } from './serving.ts';
import type { World } from '../world/world.ts';
import { watchProviders } from '../world/watch-providers.ts';

/** Point at which a run was suspended. A fork starts from it. */
export interface Point {
  readonly turn: number;
  readonly token: string;
  readonly asked: readonly ClientStep[];
  /** Answers that were sent at once. */
  readonly answers: readonly StepAnswer[];
  /** Time, in milliseconds since the epoch. */
  readonly time: number;
  readonly generation: number;
  /** When the saga continues without an answer, in milliseconds since the epoch. Absent: never. */
  readonly due?: number;
  /** Length of the trace, with the questions. */
  readonly traced: number;
}

/** A run from its start or a fork to its end. */
export interface Played {
  readonly ended: Ended;
  readonly points: readonly Point[];
}

export interface PlayOptions {
  /** The first request. Default: starts the saga. */
  readonly first?: TestRequest;
  /** Host of other code, with the same key, and the number of its first request, from 0. */
  readonly handover?: { readonly at: number; readonly to: Serving };
}

/** Resets the fakes of a run, and starts its trace. */
export async function begin(world: World, { name: saga }: Program): Promise<void> {
  const { before, input, providers = [] } = world.options;
  for (const provider of providers) provider.reset();
  await before?.();
  world.tell({ type: 'started', saga, input });
}

/** Plays a run to its end, and watches its providers. */
export async function play(
  program: Program,
  world: World,
  serving: Serving,
  options?: PlayOptions,
): Promise<Played> {
  const unwatch = watchProviders(world);
  let played: Played;
  try {
    played = await playTurns(program, world, serving, options);
  } finally {
    await unwatch();
  }
  assertSound(program, world, played.ended);
  return played;
}

async function playTurns(
  program: Program,
  world: World,
  before: Serving,
  { first = { type: 'start' }, handover }: PlayOptions = {},
): Promise<Played> {
  const { maxTurns = 10_000 } = world.options;
  const points: Point[] = [];
  let request = first;
  for (let count = 0; count < maxTurns; count += 1) {
    const serving = handover !== undefined && count >= handover.at ? handover.to : before;
    const turn = await served(world, serving, request);
    if (turn.status !== 'suspended') {
      conclude(world, turn);
      return { ended: turn, points };
    }
    for (const step of turn.steps) tellAsked(world, step);
    const { time, traced } = { time: world.clock.now(), traced: world.trace.length };
    request = await nextRequest(program, world, turn);
    const answers = request.type === 'resume' ? request.answers : [];
    const { token, steps: asked, due } = turn;
    points.push({
      turn: turn.turn,
      token,
      asked,
      answers,
      time,
      ...(due === undefined ? {} : { due }),
      generation: world.generation,
      traced,
    });
    world.turn = turn.turn + 1;
    world.asked = new Map(asked.map((step) => [step.stepId, step]));
    world.sent = new Map(answers.map((answer) => [answer.stepId, answer]));
  }
  throw new SagaTestError(
    'script',
    `The saga '${program.name}' has not ended in ${maxTurns} turns. Does it poll or ask for ever? Raise maxTurns where that is meant.`,
  );
}

/** Sends a request until its response arrives. A request that died is sent again. */
async function served(
  world: World,
  serving: Serving,
  request: TestRequest,
): Promise<SagaTurn | Extract<Ended, { status: 'refused' }>> {
  const { generation } = world;
  const time = world.clock.now();
  for (;;) {
    const effects = world.ledger.runs;
    world.undone.clear();
    try {
      const turn = await serving.serve(world, request);
      if (turn !== undefined && !losesResponse(world)) return turn;
    } catch (error) {
      if (error instanceof NeedsMissing) for (const need of error.needs) world.needs(need);
      if (isRefusal(error)) return { status: 'refused', error };
      throw error;
    }
    // A process of another time would find another time: that is tested for itself.
    world.clock.reset(time);
    world.generation = generation;
    if (request.type === 'start' && world.ledger.runs > effects) world.restarts += 1;
    else for (const id of world.undone) world.undoneInVain.add(id);
  }
}

/** `true` if the host rejected a request and would reject it again. */
function isRefusal(error: unknown): boolean {
  if (error instanceof SagaHostError && error.code === 'version_gone') return true;
  return [TokenRefused, NeedsMissing, ReplayMismatch].some((refusal) => error instanceof refusal);
}

function losesResponse(world: World): boolean {
  if (world.responses.at(-1) !== world.turn) world.responses.push(world.turn);
  const rule = world.rules.all.find((each) => each.kind === 'loseResponse' && each.turn === world.turn);
  if (rule === undefined || !world.use(rule, 1)) return false;
  world.tell({ type: 'lost', what: 'response' });
  return true;
}

async function nextRequest(program: Program, world: World, turn: SuspendedTurn): Promise<TestRequest> {
  const { token, steps } = turn;
  for (const { stepId } of steps) {
    const rule = world.rules.find(['end'], stepId);
    if (rule === undefined) continue;
    world.use(rule);
    world.tell({ type: 'cancelledFromOutside', reason: rule.reason });
    return { type: 'cancel', token, reason: rule.reason };
  }
  if (steps.length === 0) world.clock.pass(turn.retryAfterMs ?? 0);
  const answers: StepAnswer[] = [];
  for (const step of answeredNow(world, steps)) {
    answers.push(await answerTo(world, program.name, step));
  }
  return { type: 'resume', token, answers };
}

/** Questions that the next request answers. Advances the clock if it can answer none yet. */
function answeredNow(world: World, steps: readonly ClientStep[]): readonly ClientStep[] {
  if (steps.length === 0) return [];
  const now = world.clock.now();
  const timed = steps.map((step) => {
    const rule = world.rules.find(['late', 'silent'], step.stepId);
    if (rule === undefined) return { step, rule, at: now };
    const { kind, ms } = rule;
    return {
      step,
      rule,
      at: kind === 'silent' ? now + ms : (world.askedAt.get(step.stepId) ?? now) + ms,
    };
  });
  const next = Math.max(now, Math.min(...timed.map(({ at }) => at)));
  world.clock.pass(next - now);
  return timed.flatMap(({ step, rule, at }) => {
    if (at > next) return [];
    if (rule !== undefined) world.use(rule);
    return rule?.kind === 'silent' ? [] : [step];
  });
}

function tellAsked(world: World, step: ClientStep): void {
  const { stepId: id, reason } = step;
  // A question that is still open is not news, unless there is a reason to ask it again.
  if (reason === undefined && world.asked.has(id) && !world.sent.has(id)) return;
  world.askedAt.set(id, world.clock.now());
  const asked = {
    type: 'asked',
    id,
    kind: kindOfStep(step),
    message: messageOf(step),
    params: step.params,
  } as const;
  world.tell(reason === undefined ? asked : { ...asked, reason });
}

function conclude(world: World, ended: Ended): void {
  if (ended.status === 'completed') {
    world.tell({ type: 'completed', result: ended.result });
  } else if (ended.status === 'refused') {
    const { reason, message } = Object(ended.error) as {
      readonly reason?: string;
      readonly message?: string;
    };
    world.tell({ type: 'refused', reason: reason ?? message ?? 'not allowed' });
  } else {
    // An undo of several steps is done when all of them are, which only the end says.
    const told = new Set(world.trace.flatMap((entry) => (entry.type === 'undone' ? [entry.id] : [])));
    for (const { stepId: id } of ended.compensated) {
      if (!told.has(id)) world.tell({ type: 'undone', id, key: undefined });
    }
    for (const { stepId: id } of ended.residue) world.tell({ type: 'residue', id });
    world.tell({ type: 'gaveUp', error: ended.error });
  }
}
