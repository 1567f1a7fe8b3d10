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
import type { Stage } from '../world/simulation.ts';
import { watchProviders } from '../world/watch-providers.ts';

/** Where a run was suspended: all that a fork needs to go on from there. */
export interface Point {
  readonly turn: number;
  readonly token: string;
  readonly asked: readonly ClientStep[];
  /** What was answered, of what was answered at once. */
  readonly answers: readonly StepAnswer[];
  /** The time, in milliseconds since the epoch. */
  readonly time: number;
  readonly generation: number;
  /** When the saga continues without an answer, in milliseconds since the epoch. Absent: never. */
  readonly due?: number;
  /** How many entries the trace had, when the questions stood in it. */
  readonly traced: number;
}

/** A run from its start, or from a fork, to its end. */
export interface Played {
  readonly ended: Ended;
  readonly points: readonly Point[];
}

/** How a run is played, where not from its start to its end by the same code. */
export interface PlayOptions {
  /** The first request. Default: starts the saga. */
  readonly first?: TestRequest;
  /** From which request on, counted from 0, another host serves it: of other code, with the same key. */
  readonly handover?: { readonly at: number; readonly to: Serving };
}

/** Prepares the fakes of a run, and notes that it begins. */
export async function begin(stage: Stage, { name: saga }: Program): Promise<void> {
  const { before, input, providers = [] } = stage.options;
  for (const provider of providers) provider.reset();
  await before?.();
  stage.tell({ type: 'started', saga, input });
}

/** Plays a run to its end, while its providers are watched. */
export async function play(
  program: Program,
  stage: Stage,
  serving: Serving,
  options?: PlayOptions,
): Promise<Played> {
  const unwatch = watchProviders(stage);
  let played: Played;
  try {
    played = await playTurns(program, stage, serving, options);
  } finally {
    await unwatch();
  }
  assertSound(program, stage, played.ended);
  return played;
}

async function playTurns(
  program: Program,
  stage: Stage,
  before: Serving,
  { first = { type: 'start' }, handover }: PlayOptions = {},
): Promise<Played> {
  const { maxTurns = 10_000 } = stage.options;
  const points: Point[] = [];
  let request = first;
  for (let count = 0; count < maxTurns; count += 1) {
    const serving = handover !== undefined && count >= handover.at ? handover.to : before;
    const turn = await served(stage, serving, request);
    if (turn.status !== 'suspended') {
      conclude(stage, turn);
      return { ended: turn, points };
    }
    for (const step of turn.steps) tellAsked(stage, step);
    const { time, traced } = { time: stage.clock.now(), traced: stage.trace.length };
    request = await nextRequest(program, stage, turn);
    const answers = request.type === 'resume' ? request.answers : [];
    const { token, steps: asked, due } = turn;
    points.push({
      turn: turn.turn,
      token,
      asked,
      answers,
      time,
      ...(due === undefined ? {} : { due }),
      generation: stage.generation,
      traced,
    });
    stage.turn = turn.turn + 1;
    stage.asked = new Map(asked.map((step) => [step.stepId, step]));
    stage.sent = new Map(answers.map((answer) => [answer.stepId, answer]));
  }
  throw new SagaTestError(
    'script',
    `The saga '${program.name}' has not ended in ${maxTurns} turns. Does it poll or ask for ever? Raise maxTurns where that is meant.`,
  );
}

/** Sends a request until there is a response to it: one that died is sent again, as a client does. */
async function served(
  stage: Stage,
  serving: Serving,
  request: TestRequest,
): Promise<SagaTurn | Extract<Ended, { status: 'refused' }>> {
  const { generation } = stage;
  const time = stage.clock.now();
  for (;;) {
    const effects = stage.ledger.runs;
    stage.undone.clear();
    try {
      const turn = await serving.serve(stage, request);
      if (turn !== undefined && !losesResponse(stage)) return turn;
    } catch (error) {
      if (error instanceof NeedsMissing) for (const need of error.needs) stage.needs(need);
      if (isRefusal(error)) return { status: 'refused', error };
      throw error;
    }
    // A process of another time would find another time: that is tested for itself.
    stage.clock.reset(time);
    stage.generation = generation;
    if (request.type === 'start' && stage.ledger.runs > effects) stage.restarts += 1;
    else for (const id of stage.undone) stage.undoneInVain.add(id);
  }
}

/** `true` if the host rejected a request that comes to the same when it is sent again. */
function isRefusal(error: unknown): boolean {
  if (error instanceof SagaHostError && error.code === 'version_gone') return true;
  return [TokenRefused, NeedsMissing, ReplayMismatch].some((refusal) => error instanceof refusal);
}

function losesResponse(stage: Stage): boolean {
  if (stage.responses.at(-1) !== stage.turn) stage.responses.push(stage.turn);
  const rule = stage.rules.all.find((each) => each.kind === 'loseResponse' && each.turn === stage.turn);
  if (rule === undefined || !stage.use(rule, 1)) return false;
  stage.tell({ type: 'lost', what: 'response' });
  return true;
}

async function nextRequest(program: Program, stage: Stage, turn: SuspendedTurn): Promise<TestRequest> {
  const { token, steps } = turn;
  for (const { stepId } of steps) {
    const rule = stage.rules.find(['end'], stepId);
    if (rule === undefined) continue;
    stage.use(rule);
    stage.tell({ type: 'cancelledFromOutside', reason: rule.reason });
    return { type: 'cancel', token, reason: rule.reason };
  }
  if (steps.length === 0) stage.clock.pass(turn.retryAfterMs ?? 0);
  const answers: StepAnswer[] = [];
  for (const step of answeredNow(stage, steps)) {
    answers.push(await answerTo(stage, program.name, step));
  }
  return { type: 'resume', token, answers };
}

/** The questions that the client answers in its next request. Lets time pass if it can answer none of them yet. */
function answeredNow(stage: Stage, steps: readonly ClientStep[]): readonly ClientStep[] {
  if (steps.length === 0) return [];
  const now = stage.clock.now();
  const timed = steps.map((step) => {
    const rule = stage.rules.find(['late', 'silent'], step.stepId);
    if (rule === undefined) return { step, rule, at: now };
    const { kind, ms } = rule;
    return { step, rule, at: kind === 'silent' ? now + ms : (stage.askedAt.get(step.stepId) ?? now) + ms };
  });
  const next = Math.max(now, Math.min(...timed.map(({ at }) => at)));
  stage.clock.pass(next - now);
  return timed.flatMap(({ step, rule, at }) => {
    if (at > next) return [];
    if (rule !== undefined) stage.use(rule);
    return rule?.kind === 'silent' ? [] : [step];
  });
}

function tellAsked(stage: Stage, step: ClientStep): void {
  const { stepId: id, reason } = step;
  // A question that is still open is not news, unless there is a reason to ask it again.
  if (reason === undefined && stage.asked.has(id) && !stage.sent.has(id)) return;
  stage.askedAt.set(id, stage.clock.now());
  const asked = {
    type: 'asked',
    id,
    kind: kindOfStep(step),
    message: messageOf(step),
    params: step.params,
  } as const;
  stage.tell(reason === undefined ? asked : { ...asked, reason });
}

function conclude(stage: Stage, ended: Ended): void {
  if (ended.status === 'completed') {
    stage.tell({ type: 'completed', result: ended.result });
  } else if (ended.status === 'refused') {
    const { reason, message } = Object(ended.error) as {
      readonly reason?: string;
      readonly message?: string;
    };
    stage.tell({ type: 'refused', reason: reason ?? message ?? 'not allowed' });
  } else {
    // An undo of several steps is done when all of them are, which only the end says.
    const told = new Set(stage.trace.flatMap((entry) => (entry.type === 'undone' ? [entry.id] : [])));
    for (const { stepId: id } of ended.compensated) {
      if (!told.has(id)) stage.tell({ type: 'undone', id, key: undefined });
    }
    for (const { stepId: id } of ended.residue) stage.tell({ type: 'residue', id });
    stage.tell({ type: 'gaveUp', error: ended.error });
  }
}
