import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Answer } from '../model/session.ts';
import type { LensView, TokenView } from '../model/view.ts';
import { Button, Failure, Fold, Refusal, TokenTitle } from '../parts/controls.tsx';
import { durationOf } from '@mcp-saga/testing/internal';
import { QuestionForm } from '../parts/question-form.tsx';
import { RawToken, TokenContents, TokenSize } from '../parts/token-facts.tsx';
import type { Store } from './store.ts';

/** `number`: of the token in its lane, from 0. */
type TokenRowProps = Readonly<{ store: Store; lane: number; number: number; token: TokenView }>;

export function TokenRow({ store, lane, number, token }: TokenRowProps): JSX.Element {
  const { answers: acts } = store.session.value;
  const [question] = token.questions;
  const current = store.lanes.value[lane];
  const misfit =
    lane === 0 ? store.misfits.value?.find(({ point }) => point === number) : undefined;
  const isLast = number === (current?.tokens.length ?? 0) - 1 && current?.status === 'waiting';
  const forms = (accept: string, onAnswer: (given: Answer) => void): readonly JSX.Element[] =>
    token.questions.map((each) => (
      <QuestionForm key={each.id} question={each} accept={accept} onAnswer={onAnswer} />
    ));
  return (
    <div class="token">
      <Fold summary={<TokenTitle number={token.number} bytes={token.bytes} />}>
        <TokenLens store={store} lane={lane} number={number} />
      </Fold>
      <Failure
        text={misfit && `The next version cannot continue this token.\n${misfit.lines.join('\n')}`}
      />
      {!isLast && (
        <Fold summary={`Go back to token ${token.number}`}>
          <p>
            A fork sends this token again{question !== undefined && ', with another answer'}. The
            guard decides about an older token: the same answers of the client get the stored
            response. Earlier decisions and later effects remain.
          </p>
          {question === undefined && (
            <Button onClick={() => store.fork(lane, number)}>Send as a fork</Button>
          )}
          {forms('Send as a fork', (given) => store.fork(lane, number, given))}
          {question !== undefined && lane === 0 && !/^(?:approval|event)$/.test(question.type) && (
            <Fold summary="Change an answer instead">
              <p>Starts a new run up to this token, and discards the old run.</p>
              {forms('Run again', (given) =>
                store.set({ answers: [...acts.slice(0, token.acts), given] }),
              )}
            </Fold>
          )}
        </Fold>
      )}
    </div>
  );
}

function TokenLens({ store, lane, number }: Omit<TokenRowProps, 'token'>): JSX.Element | null {
  const lens = useSignal<LensView>();
  // A newer run drops a request for the lens of the run before it, but not the wish of the person.
  const isChanged = useSignal(false);
  useEffect(() => {
    void store
      .lens(lane, number, isChanged.value)
      .then((view) => (lens.value = view ?? lens.value));
  }, [lane, number, store.lanes.value, isChanged.value]);
  if (lens.value === undefined) return null;
  const { token, keyId, ttlMs, parts, timeline, refusal } = lens.value;
  return (
    <div class="lens">
      <RawToken token={token} keyId={keyId} />
      <h4>The operator knows</h4>
      <dl>
        <TokenSize bytes={token.length} />
        <dt>Expires</dt>
        <dd>{durationOf(ttlMs)} after it was sealed</dd>
        <TokenContents parts={parts} timeline={timeline} />
      </dl>
      <Button onClick={() => void (isChanged.value = true)}>Change one character</Button>
      {refusal !== undefined && <Refusal {...refusal} />}
    </div>
  );
}
