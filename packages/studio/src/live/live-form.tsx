import type { ClientStep } from '@mcp-saga/server';
import type { JSX } from 'preact';
import { toQuestionView } from '../engine/to-view.ts';
import type { Answer } from '../model/session.ts';
import { QuestionForm } from '../parts/question-form.tsx';
import type { LiveStore } from './live-store.ts';
import type { Sent } from './sent-requests.ts';

interface StepFormProps {
  readonly step: ClientStep;
  readonly onAnswer: (given: Answer) => void;
  readonly accept?: string;
}

/** Question of a saga, with the link of a question by URL. */
export function StepForm({ step, onAnswer, accept = 'Accept' }: StepFormProps): JSX.Element {
  const { url } = step.params;
  const isLink = typeof url === 'string' && /^https?:/.test(url);
  return (
    <>
      <QuestionForm question={toQuestionView(step, [])} onAnswer={onAnswer} accept={accept} />
      {isLink && (
        <p class="link">
          <a href={url} target="_blank" rel="noreferrer">
            {url}
          </a>
        </p>
      )}
    </>
  );
}

type RefusalsProps = { readonly store: LiveStore; readonly from: Sent };

/** Requests with a token that the server refused. */
export function Refusals({ store, from }: RefusalsProps): JSX.Element | null {
  const refused = [...store.sent.value.values()].filter(
    ({ parent, error }) => parent === from.id && error !== undefined,
  );
  const last = refused.at(-1);
  if (last === undefined) return null;
  const rejection = store.state.value?.rejections.find(({ request }) => request === last.id);
  return (
    <p class="failure" role="status">
      The client gets <b>{last.error}</b>.
      {rejection !== undefined && (
        <>
          {' '}
          The log of the operator says <b>{rejection.reason}</b>.
        </>
      )}
    </p>
  );
}
