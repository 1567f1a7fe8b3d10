import { engineOf, present } from '@mcp-saga/core/program';
import type { ClientStep } from '@mcp-saga/core';
import { stepIdsOf } from '../wire/step-answers.ts';
import { silentAt, type HostParts } from '../settings/host-parts.ts';
import { versionGone } from '../token/resolve-program.ts';
import { openResponse, type UnrenderedTurn } from '../token/guard-records.ts';
import { TokenRefused } from '@mcp-saga/seal';
import type { TurnClaim } from '../guard/ask-guard.ts';
import type { GuardVerdict } from '../model/guard.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { noteSuspendedAgain, settleTurn } from './settle.ts';
import { tracedAgain } from './traced-turn.ts';
import { turnRuntime } from './turn-runtime.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import { noteSaga, openTurn } from '../token/saga-of-turn.ts';

/**
 * Repeats a kept response. Throws TokenRefused `used` if the response belongs to another request,
 * unless the request follows it.
 */
export async function repeatTurn(
  host: HostParts,
  saga: SealedSaga,
  verdict: Extract<GuardVerdict, { response: unknown }>,
  { brought: { capabilities, dialect }, isWake = false }: Pick<TurnClaim, 'brought' | 'isWake'>,
): Promise<RepeatedTurn> {
  const { wentOn = true, other } = verdict;
  const { turn: kept, isCommitted } = await openResponse(host, saga, verdict);
  const turn = 'asked' in kept ? await renderQuestions(host, kept) : kept;
  tracedAgain(host.observer, saga, turn);
  // The first notification may have been lost. The client has continued an older turn, unless the
  // queue requests the response.
  const isNews = !wentOn || (other === true && !isWake);
  if (isNews && ((await host.guard?.queue?.elects?.(saga)) ?? true))
    await noteSuspendedAgain(host, turn, { capabilities, dialect }, isCommitted);
  await settleTurn(host, turn, { isGuarded: true });
  if (other === true && !isWake) throw new TokenRefused('used');
  return { turn, isCommitted, wentOn, ...(verdict.isKnown === true ? { isKnown: true } : {}) };
}

/** Kept response of a turn. */
interface RepeatedTurn {
  readonly turn: SagaTurn;
  readonly isCommitted: boolean;
  /** `true` if the token of the response was used. */
  readonly wentOn: boolean;
  /** `true` if the request that the claim looks for has used a token before the response. */
  readonly isKnown?: true;
}

/**
 * Renders the questions of a suspended turn again, replayed at the issue time of its token. No step
 * runs. Throws `version_gone`.
 */
async function renderQuestions(
  host: HostParts,
  unrendered: UnrenderedTurn,
): Promise<SuspendedTurn> {
  const { asked: kept, ...turn } = unrendered;
  const { saga, program } = await openTurn(host, unrendered);
  if (program === undefined) throw versionGone(saga);
  const dialect = { maxHold: 0, effects: 'later' } as const;
  const runtime = turnRuntime(
    silentAt(host, saga.claims.iat),
    {
      program,
      saga,
      intent: { kind: 'answer', answers: new Map() },
      caller: {},
      holder: { kind: 'client' },
      // Nothing runs.
      // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- necessary if `Register` has a type for services
      services: undefined as never,
      dialect,
    },
    0,
  );
  // The first client was asked each kept question. Questions for other clients are dropped below.
  const questions = { ...runtime.questions, route: () => 'ask' as const };
  const outcome = await engineOf(program).advance(saga.state.program, new Map(), {
    ...runtime,
    questions,
  });
  if (outcome.status === 'failed' || (outcome.status === 'suspended' && outcome.undoes === true))
    throw versionGone(saga);
  const ids = stepIdsOf(saga.state.generation);
  const { steps: rendered = [], content } = outcome.status === 'suspended' ? outcome : {};
  const asked = new Map(rendered.map((step) => [ids.toWire(step.stepId), step]));
  const steps = kept.flatMap((step): ClientStep[] => {
    const question = asked.get(step.stepId);
    return question === undefined ? [] : [{ ...question, ...step }];
  });
  return noteSaga({ ...turn, steps, ...present({ content }) }, saga);
}
