import { present } from '@mcp-saga/core/program';
import type { ClientStep } from '@mcp-saga/core';
import { stepIdsOf } from '../wire/step-answers.ts';
import { silentAt, type HostParts } from '../settings/host-parts.ts';
import { found, versionGone } from '../token/resolve-program.ts';
import { openResponse, type UnrenderedTurn } from '../token/guard-records.ts';
import { TokenRefused } from '@mcp-saga/seal';
import type { GuardVerdict } from '../model/guard.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { noteCancelAgain, settleTurn } from './suspend.ts';
import { tracedAgain } from './traced-turn.ts';
import { turnRuntime } from './turn-runtime.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';

/** Repeats the response that a guard kept. Throws TokenRefused `used` if another request got it. */
export async function repeatTurn(
  host: HostParts,
  saga: SealedSaga,
  { response, wentOn, other }: Extract<GuardVerdict, { response: unknown }>,
): Promise<{ readonly turn: SagaTurn; readonly isCommitted: boolean }> {
  const { turn: kept, isCommitted } = await openResponse(host.keys.responses, saga, response);
  const turn = 'asked' in kept ? await renderQuestions(host, kept) : kept;
  tracedAgain(host.observer, saga, turn);
  // Told again, should the first time have been lost: of a turn that is not the last one, its client knew. What a queue
  // delivers is the newest that it was told, so that of the next turn it was not, whoever has gone on.
  if (wentOn === false || other === true) await noteCancelAgain(host, turn);
  await settleTurn(host.observer, turn);
  if (other === true) throw new TokenRefused('used');
  return { turn, isCommitted };
}

/** Renders the questions of a suspended turn again, replayed at the issue time of its token. No step runs. Throws `version_gone`. */
async function renderQuestions(
  host: HostParts,
  { asked: kept, ...turn }: UnrenderedTurn,
): Promise<SuspendedTurn> {
  // A host whose clock is ahead may have issued it.
  const expect = { purpose: 'token', sid: turn.sagaId, ignoreExpiry: true, allowFuture: true } as const;
  const { saga, program } = found(host, await host.keys.sealer.open(turn.token, expect));
  if (program === undefined) throw versionGone(saga);
  const traits = { maxHold: 0, defersEffects: true };
  const runtime = {
    ...turnRuntime(
      silentAt(host, saga.claims.iat),
      { program, saga, answers: new Map(), caller: {}, traits, tokenBytes: turn.token.length },
      0,
    ),
    // The first client was asked each kept question. Questions for other clients are dropped below.
    route: () => 'ask' as const,
  };
  const outcome = await program.advance(saga.state.program, new Map(), runtime);
  if (outcome.status === 'failed' || (outcome.status === 'suspended' && outcome.undoes === true))
    throw versionGone(saga);
  const ids = stepIdsOf(saga.state.generation);
  const { steps: rendered = [], content } = outcome.status === 'suspended' ? outcome : {};
  const asked = new Map(rendered.map((step) => [ids.toWire(step.stepId), step]));
  const steps = kept.flatMap((step): ClientStep[] => {
    const question = asked.get(step.stepId);
    return question === undefined ? [] : [{ ...question, ...step }];
  });
  // Code that `patched` has changed asks something else, or nothing: the next turn does, from the same token.
  const isChanged = kept.length > 0 && steps.length === 0;
  return {
    ...turn,
    steps,
    ...(isChanged ? { retryAfterMs: 0 } : {}),
    ...present({ content }),
  };
}
