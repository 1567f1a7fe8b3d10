import { Fragment, type JSX } from 'preact';
import { Button } from '../parts/button.tsx';
import { toQuestionView } from '../engine/to-view.ts';
import { durationOf } from '../page/panels/duration.ts';
import { QuestionForm } from '../parts/question-form.tsx';
import type { LiveToken } from './lanes.ts';
import type { LiveStore } from './live-store.ts';
import { methodsOf } from './mcp-client.ts';
import { toCompletedStep } from './sent-requests.ts';

type LiveFormProps = { readonly store: LiveStore; readonly token: LiveToken };

/**
 * Forms to answer with a token of this page, and its last refusal by the server. Questions of other clients are theirs to answer. The
 * newest token waits for all its questions, and an older one makes a fork at the first.
 */
export function LiveForm({ store, token: { sent, isNewest } }: LiveFormProps): JSX.Element | null {
  if (sent?.reply === undefined) return null;
  const { steps = [], retryAfterMs = 0 } = sent.reply;
  const tool = store.tools.value.find(({ name }) => name === sent.tool) ?? {};
  const refused = store.sent.value.findLast(({ parent, error }) => parent === sent.id && error !== undefined);
  const rejection = store.state.value?.rejections.find(({ request }) => request === refused?.id);
  return (
    <>
      {steps.slice(0, isNewest ? undefined : 1).map((step) => {
        const { url } = step.params;
        return (
          <Fragment key={`${sent.id} ${step.stepId}`}>
            <QuestionForm
              question={toQuestionView(step, [])}
              accept={isNewest ? 'Accept' : 'Send as a fork'}
              onAnswer={(given) => void store.resume(sent, [toCompletedStep(step, given)])}
            />
            {typeof url === 'string' && /^https?:/.test(url) && (
              <p class="link">
                <a href={url} target="_blank" rel="noreferrer">
                  {url}
                </a>
              </p>
            )}
          </Fragment>
        );
      })}
      {isNewest && (
        <div class="buttons open">
          {steps.length === 0 && (
            <Button onClick={() => void store.resume(sent)}>Continue after {durationOf(retryAfterMs)}</Button>
          )}
          {methodsOf(tool).includes('tools/cancelSaga') && (
            <Button onClick={() => void store.cancel(sent)}>Cancel the saga</Button>
          )}
        </div>
      )}
      {refused !== undefined && (
        <p class="failure" role="status">
          The client gets <b>{refused.error}</b>.
          {rejection !== undefined && (
            <>
              {' '}
              The log of the operator says <b>{rejection.reason}</b>.
            </>
          )}
        </p>
      )}
    </>
  );
}
