import type { JSX } from 'preact';
import { Ladder } from '../page/ladder.tsx';
import { durationOf } from '../page/panels/duration.ts';
import type { LiveLane, LiveToken } from './lanes.ts';
import { methodsOf, type LiveStore } from './live-store.ts';
import { LiveTokenRow } from './live-token.tsx';
import { statusLabels } from './seen-list.tsx';
import { Refusals, StepForm } from './live-form.tsx';

/** Shown saga: its run and its forks. */
export function LiveRun({ store }: { readonly store: LiveStore }): JSX.Element {
  const { saga, lanes } = store;
  const at = Math.min(store.lane.value, lanes.value.length - 1);
  const lane = lanes.value[at];
  if (saga.value === undefined || lane === undefined)
    return (
      <section class="run" aria-label="Run">
        <p class="nothing">
          Start a saga, or choose a saga of a client. Its turns appear here while they run.
        </p>
      </section>
    );
  const { sagaId, saga: name, version } = saga.value;
  const { status = 'running' } = lane.turns.at(-1) ?? {};
  return (
    <section class="run" aria-label="Run">
      <div class="tabs">
        {lanes.value.map(({ turns }, index) => (
          <button
            key={index}
            type="button"
            aria-pressed={index === at}
            onClick={() => (store.lane.value = index)}
          >
            <span class={`dot ${turns.at(-1)?.status}`} />
            {index === 0 ? 'Run' : `Fork ${index}`}
          </button>
        ))}
        {store.startAgain !== undefined && (
          <button type="button" class="quiet" onClick={store.startAgain}>
            Start again
          </button>
        )}
      </div>
      <p class={`verdict ${status}`} role="status">
        {at === 0 ? name : `Fork ${at} of token ${lane.from}`}: {statusLabels[status]}
        <span>
          {' '}
          version {version} · {sagaId.slice(0, 6)}
        </span>
      </p>
      <Ladder
        key={`${sagaId} ${at}`}
        entries={lane.entries}
        tokens={lane.tokens}
        caption={(turn) => captionOf(lane, turn)}
        token={(token) => (
          <LiveTokenRow
            key={token.turn.startedAt}
            store={store}
            token={token}
            isNewest={token === openToken(lane)}
          />
        )}
      />
      <Open store={store} lane={lane} />
    </section>
  );
}

function captionOf({ turns }: LiveLane, turn: number): string {
  const { client, durationMs, startedAt = 0 } = turns.findLast((each) => each.turn === turn) ?? {};
  const duration = durationMs === undefined ? 'runs now' : durationOf(durationMs);
  return [client, new Date(startedAt).toLocaleTimeString(), duration].filter(Boolean).join(' · ');
}

/** Returns the token of a lane that no turn has used. */
function openToken({ turns, tokens }: LiveLane): LiveToken | undefined {
  const newest = turns.findLast(({ status, action }) => status !== 'rejected' && action !== 'repeat');
  const last = tokens.at(-1);
  return last?.turn === newest ? last : undefined;
}

/** Open questions of this page. Questions of other clients are theirs to answer. */
function Open({ store, lane }: { readonly store: LiveStore; readonly lane: LiveLane }): JSX.Element | null {
  const sent = openToken(lane)?.sent;
  if (sent?.reply === undefined) return null;
  const { steps = [], retryAfterMs } = sent.reply;
  const tool = store.tools.value.find(({ name }) => name === sent.tool);
  return (
    <>
      {steps.map((step) => (
        <StepForm
          key={`${sent.id} ${step.stepId}`}
          step={step}
          onAnswer={(given) => void store.answer(sent, given)}
        />
      ))}
      <div class="buttons open">
        {steps.length === 0 && (
          <button type="button" onClick={() => void store.proceed(sent)}>
            Continue after {durationOf(retryAfterMs ?? 0)}
          </button>
        )}
        {tool !== undefined && methodsOf(tool).includes('tools/cancelSaga') && (
          <button type="button" onClick={() => void store.cancel(sent)}>
            Cancel the saga
          </button>
        )}
      </div>
      <Refusals store={store} from={sent} />
    </>
  );
}
