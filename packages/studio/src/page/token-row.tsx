import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type { LensView, TokenView } from '../model/view.ts';
import { Button, Fold, limitBytes, TokenTitle } from '../parts/controls.tsx';
import { durationOf } from './panels/duration.ts';
import { QuestionForm } from '../parts/question-form.tsx';
import type { Store } from './store.ts';

interface TokenRowProps {
  readonly store: Store;
  readonly lane: number;
  /** Number of the token in its lane, from 0. */
  readonly number: number;
  readonly token: TokenView;
}

/** Token of the client between two turns, with a lens, and a form to go back. */
export function TokenRow({ store, lane, number, token }: TokenRowProps): JSX.Element {
  const { answers: acts } = store.session.value;
  const [question] = token.questions;
  const isOutside = question?.type === 'approval' || question?.type === 'event';
  const current = store.lanes.value[lane];
  const misfit = lane === 0 ? store.misfits.value?.find(({ point }) => point === number) : undefined;
  const isLast = number === (current?.tokens.length ?? 0) - 1 && current?.status === 'waiting';
  return (
    <div class="token">
      <Fold summary={<TokenTitle number={token.number} bytes={token.bytes} />}>
        <TokenLens store={store} lane={lane} number={number} />
      </Fold>
      {misfit !== undefined && (
        <p class="failure misfit">
          {`The next version cannot continue this token.\n${misfit.lines.join('\n')}`}
        </p>
      )}
      {question !== undefined && !isLast && (
        <Fold summary={`Go back to token ${token.number}`}>
          <p>
            A fork sends this token again, with another answer. The guard decides whether an older token is
            still valid. Earlier decisions and later effects remain.
          </p>
          <QuestionForm
            question={question}
            accept="Send as a fork"
            onAnswer={(given) => store.fork(lane, number, given)}
          />
          {lane === 0 && !isOutside && (
            <Fold summary="Change the answer instead">
              <p>Starts a new run up to this question, and discards the old run.</p>
              <QuestionForm
                question={question}
                accept="Run again"
                onAnswer={(given) => store.set({ answers: [...acts.slice(0, token.acts), given] })}
              />
            </Fold>
          )}
        </Fold>
      )}
    </div>
  );
}

const parts = ['header', 'key', 'nonce', 'ciphertext', 'tag'] as const;

/** Token as the client sees the text, and as the operator knows the contents. */
function TokenLens({ store, lane, number }: Omit<TokenRowProps, 'token'>): JSX.Element | null {
  const lens = useSignal<LensView>();
  const isChanged = useSignal(false);
  useEffect(() => {
    isChanged.value = false;
    void store.lens(lane, number).then((view) => (lens.value = view));
  }, [lane, number, store.lanes.value]);
  if (lens.value === undefined) return null;
  const { token, keyId, ttlMs, timeline, refusal } = lens.value;
  const pieces = token.split('.');
  return (
    <div class="lens">
      <h4>The client sees</h4>
      <code class="raw">
        {pieces.map((piece, at) => (
          <span key={at} class={parts[at]}>
            {at > 0 && '.'}
            {piece.length > 120 ? `${piece.slice(0, 120)}…` : piece}
          </span>
        ))}
      </code>
      <ul class="raw parts">
        {pieces.map((piece, at) => (
          <li key={at} class={parts[at]} hidden={piece === ''}>
            {parts[at]} {piece.length} bytes
          </li>
        ))}
      </ul>
      <p>Everything but the ID of the key is encrypted, with AES-256-GCM.</p>
      <h4>The operator knows</h4>
      <dl>
        <dt>Size</dt>
        <dd>
          <meter min={0} max={limitBytes} value={token.length} aria-label="Size of the token" />{' '}
          {token.length} of {limitBytes} bytes
        </dd>
        <dt>Key ID</dt>
        <dd>
          <code>{keyId}</code>
        </dd>
        <dt>Expires</dt>
        <dd>{durationOf(ttlMs)} after it was sealed</dd>
        <dt>Journal</dt>
        <dd>
          {timeline.length === 0 && 'empty'}
          <ul class="journal" tabIndex={0} aria-label="Journal">
            {timeline.map(({ path, kind, outcome, bytes }, at) => (
              <li key={at}>
                <b>{path}</b> {kind} {outcome}, {bytes} bytes
              </li>
            ))}
          </ul>
        </dd>
      </dl>
      <Button onClick={() => (isChanged.value = true)}>Change one character</Button>
      {isChanged.value && (
        <p class="failure" role="status">
          The client gets <b>{refusal.client}</b>. The log of the operator says <b>{refusal.operator}</b>.
        </p>
      )}
    </div>
  );
}
