import type { JSX } from 'preact';
import { toQuestionView } from '../engine/to-view.ts';
import type { LiveToken } from './lanes.ts';
import type { LiveStore } from './live-store.ts';
import { methodsOf, toCompletedStep } from './mcp-client.ts';
import { durationOf } from '@mcp-saga/testing/internal';
import { Button, CopyButton, Fold, Refusal, TokenTitle } from '../parts/controls.tsx';
import { QuestionForm } from '../parts/question-form.tsx';
import { TokenSize } from '../parts/token-facts.tsx';
import { OpenedToken } from './opened-token.tsx';

type LiveTokenProps = { readonly store: LiveStore; readonly token: LiveToken };

export function LiveTokenRow({ store, token }: LiveTokenProps): JSX.Element {
  const { turn, startedAt, tokenBytes, expiresAt = 0 } = token.turn;
  const { steps = [], sagaToken } = token.sent?.reply ?? {};
  return (
    <div class="token">
      <Fold summary={<TokenTitle number={turn} bytes={tokenBytes} />}>
        {sagaToken === undefined ? (
          <div class="lens">
            <dl>
              <TokenSize bytes={tokenBytes} />
              <dt>Expires</dt>
              <dd>
                {new Date(expiresAt).toLocaleString()},{' '}
                {durationOf(Math.round((expiresAt - startedAt) / 1_000) * 1_000)} after the turn
              </dd>
            </dl>
            {store.state.value?.mcp !== undefined && (
              <p>Only its client has this token. To look inside, paste it in “Open a token”.</p>
            )}
          </div>
        ) : (
          <>
            <OpenedToken store={store} token={sagaToken} />
            <CopyButton label="Copy token" text={() => sagaToken} />
          </>
        )}
      </Fold>
      {sagaToken !== undefined && !token.isNewest && (
        <Fold summary={`Go back to token ${turn}`}>
          <p>
            A fork sends this token again{steps.length > 0 && ', with another answer'}. The guard
            decides whether an older token is still valid. Later effects remain.
          </p>
          <LiveForm store={store} token={token} />
        </Fold>
      )}
    </div>
  );
}

/**
 * Forms to answer with a token of this page: all questions of the newest token, or a fork at the
 * first of an older one.
 */
export function LiveForm({ store, token: { sent, isNewest } }: LiveTokenProps): JSX.Element | null {
  if (sent?.reply === undefined) return null;
  const { steps = [] } = sent.reply;
  const tool = store.tools.value.find(({ name }) => name === sent.tool) ?? {};
  const refused = store.sent.value.findLast(
    ({ parent, error }) => parent === sent.id && error !== undefined,
  );
  const rejection = store.state.value?.rejections.find(({ request }) => request === refused?.id);
  return (
    <>
      {steps.slice(0, isNewest ? undefined : 1).map((step) => (
        <QuestionForm
          key={`${sent.id} ${step.stepId}`}
          question={toQuestionView(step, [])}
          accept={isNewest ? 'Accept' : 'Send as a fork'}
          onAnswer={(given) => void store.resume(sent, [toCompletedStep(step, given)])}
        />
      ))}
      <div class={isNewest ? 'buttons open' : ''}>
        {steps.length === 0 && (
          <Button onClick={() => void store.resume(sent)}>
            {isNewest ? 'Continue now' : 'Send as a fork'}
          </Button>
        )}
        {isNewest && methodsOf(tool).includes('tools/cancelSaga') && (
          <Button onClick={() => void store.cancel(sent)}>Cancel the saga</Button>
        )}
      </div>
      {refused !== undefined && <Refusal client={refused.error} operator={rejection?.reason} />}
    </>
  );
}
