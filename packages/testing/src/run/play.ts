import { isSingleUse } from '../script/test-options.ts';
import { NeedsMissing, ReplayMismatch, SagaHostError, TokenRefused } from '@mcp-saga/server';
import type { ClientStep, Program, SagaTurn, StepAnswer, SuspendedTurn } from '@mcp-saga/server';
import { present } from '@mcp-saga/server/internal';
import { answerTo } from '../world/world-answers.ts';
import { answered } from '../world/simulated-program.ts';
import { assertSound } from './assert-sound-run.ts';
import { SagaTestError } from '../values/errors.ts';
import { messageOfError } from '../values/show.ts';
import { kindOfStep, messageOf } from '../report/trace-questions.ts';
import type { Ended, Serving, TestRequest } from './run-host.ts';
import type { Point, World } from '../world/world.ts';
import { watchProviders } from '../world/watch-providers.ts';

/** A run from its start or a fork to its end. */
export type Played = Readonly<{ ended: Ended; points: readonly Point[] }>;

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
  const { points } = world;
  let request = first;
  for (let count = 0; count < maxTurns; count += 1) {
    const serving = handover !== undefined && count >= handover.at ? handover.to : before;
    world.hasAdvanced = false;
    const turn = await served(world, serving, request);
    if (world.objection !== undefined) throw world.objection;
    if (turn.status !== 'refused' && !world.hasAdvanced) world.tell({ type: 'repeated' });
    if (turn.status !== 'suspended') {
      conclude(world, turn);
      return { ended: turn, points };
    }
    for (const step of turn.steps) tellAsked(world, step);
    const { token, steps: asked, due } = turn;
    // A stored token may be of a later time than the fork.
    const time = Math.max(world.clock.now(), world.sealedAt.get(token) ?? 0);
    const traced = world.trace.length;
    world.clock.reset(time);
    world.sealedAt.set(token, time);
    const point = { turn: turn.turn, token, asked, time, traced, ...present({ due }) };
    // Without an answer, the run ends here, and its world keeps the token.
    points.push({ ...point, answers: [] });
    request = await nextRequest(program, world, turn);
    const answers = 'answers' in request ? request.answers : [];
    points.splice(-1, 1, { ...point, answers });
    world.turn = turn.turn + 1;
    if (request.type === 'cancel')
      world.tell({ type: 'cancelledFromOutside', reason: request.reason });
    world.asked = new Map(asked.map((step) => [step.stepId, step]));
    world.sent = new Map(answers.map((answer) => [answer.stepId, answer]));
  }
  throw new SagaTestError(
    'script',
    `The saga '${program.name}' has not ended in ${maxTurns} turns. Check the saga for an endless loop of polls or questions, or raise \`maxTurns\`.`,
  );
}

/** Sends a request until its response arrives. Repeats dead requests. */
async function served(
  world: World,
  serving: Serving,
  request: TestRequest,
): Promise<SagaTurn | Extract<Ended, { status: 'refused' }>> {
  world.outside.beginTurn();
  const time = world.clock.now();
  // Time of a response that was lost, and that the store may repeat.
  let respondedAt = time;
  let hadAdvanced = false;
  for (;;) {
    const effects = world.ledger.runs;
    world.undone.clear();
    world.hasAdvanced = false;
    try {
      const turn = await serving.serve(world, request);
      if (turn !== undefined && !losesResponse(world)) {
        // A stored response is no older than its token.
        if (!world.hasAdvanced) world.clock.reset(Math.max(world.clock.now(), respondedAt));
        world.hasAdvanced ||= hadAdvanced;
        return turn;
      }
      hadAdvanced ||= world.hasAdvanced;
      if (turn !== undefined) respondedAt = world.clock.now();
    } catch (error) {
      if (error instanceof NeedsMissing) for (const need of error.needs) world.needs(need);
      if (isRefusal(error)) return { status: 'refused', error };
      throw error;
    }
    // The repeated request starts at the same time, or finds what the dead one has committed.
    // `restart` tests other times.
    world.clock.reset(Math.max(time, world.committedAt));
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
  const rule = world.rules.all.find(
    (each) => each.kind === 'loseResponse' && each.turn === world.turn,
  );
  if (rule === undefined || !world.use(rule, 1)) return false;
  world.tell({ type: 'lost', what: 'response' });
  return true;
}

async function nextRequest(
  program: Program,
  world: World,
  turn: SuspendedTurn,
): Promise<TestRequest> {
  const { token, steps } = turn;
  for (const { stepId } of steps) {
    const rule = world.rules.find(['end'], stepId);
    if (rule === undefined) continue;
    world.use(rule);
    return { type: 'cancel', token, reason: rule.reason };
  }
  const dueInMs = dueIn(world, turn);
  const wait = world.returnAfter?.(turn, dueInMs);
  world.clock.pass(wait ?? (steps.length === 0 ? dueInMs : 0));
  const answers: StepAnswer[] = [];
  for (const step of wait === undefined ? answeredNow(world, steps) : []) {
    answers.push(await answerTo(world, program.name, step));
  }
  return {
    type: answers.length === 0 && isWoken(program, world, turn) ? 'wake' : 'resume',
    token,
    answers,
  };
}

/**
 * Time until the saga can continue without an answer of the client, in milliseconds. Infinity:
 * never.
 */
function dueIn(
  { clock, outside }: World,
  { steps, due = Infinity, retryAfterMs = 0 }: SuspendedTurn,
): number {
  const now = clock.now();
  return steps.length > 0 ? due - now : Math.max(retryAfterMs, (outside.nextAt ?? now) - now);
}

/**
 * `true` if a queue continues the saga. A client without a wait after its first turn may not have
 * its token.
 */
function isWoken(saga: Program, { options, clock }: World, turn: SuspendedTurn): boolean {
  const { steps, turn: number, retryAfterMs = 0, due = Infinity } = turn;
  const isDue = steps.length === 0 ? number > 1 || retryAfterMs > 0 : due <= clock.now();
  return options.queue === true && isSingleUse({ saga, options }) && isDue;
}

/** Questions for the next request. Advances the clock if no answer is due yet. */
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
  if (reason !== undefined) answered(world, id); // and not accepted
  // An open question is told once, unless asked again for a reason.
  if (reason === undefined && world.asked.has(id) && !world.sent.has(id)) return;
  world.askedAt.set(id, world.clock.now());
  const { params } = step;
  const [kind, message] = [kindOfStep(step), messageOf(step)];
  world.tell({ type: 'asked', id, kind, message, params, ...present({ reason }) });
}

function conclude(world: World, ended: Ended): void {
  if (ended.status !== 'completed') useExpectations(world, ended.error);
  if (ended.status === 'completed') {
    world.tell({ type: 'completed', result: ended.result });
  } else if (ended.status === 'refused') {
    const { reason, message } = Object(ended.error) as Partial<
      Record<'reason' | 'message', string>
    >;
    if (world.trace.at(-1)?.type === 'forked')
      for (const id of world.sent.keys()) answered(world, id);
    world.tell({ type: 'refused', reason: reason ?? message ?? 'not allowed' });
  } else {
    // Only the end reports undos of several steps.
    const told = new Set(
      world.trace.flatMap((entry) => (entry.type === 'undone' ? [entry.id] : [])),
    );
    for (const { stepId } of ended.compensated) {
      const id = world.idOf(stepId);
      // A stored response undoes nothing again, and leaves no steps.
      const at = world.trace.findLastIndex(
        (entry) => 'id' in entry && entry.id.startsWith(`~${stepId}/`),
      );
      const { turn = 0 } = world.trace[at] ?? {};
      if (turn > 0 && !told.has(id))
        world.trace.splice(at + 1, 0, { type: 'undone', id, key: undefined, turn });
    }
    for (const { stepId: id } of ended.uncompensated)
      world.tell({ type: 'uncompensated', id: world.idOf(id) });
    world.tell({ type: 'gaveUp', error: ended.error });
  }
}

/** Uses the rules that expect the failure of this run. */
function useExpectations(world: World, error: unknown): void {
  const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
  const message = messageOfError(error);
  for (const rule of world.rules.all) {
    if (rule.kind !== 'expectFailure') continue;
    const { reason } = rule;
    if (code === reason || name === reason || message.includes(reason)) world.use(rule);
  }
}
