import type { JSX } from 'preact';
import type { Cell, EntryView, Lane, Misfit } from '../model/view.ts';
import { isRedacted } from '../parts/link.ts';
import { QuestionForm } from '../parts/question-form.tsx';
import { Compared } from './compared.tsx';
import { Ladder } from './ladder.tsx';
import { ClockPanel } from './panels/clock-panel.tsx';
import { ExportMenu, save } from './panels/export-menu.tsx';
import { RunSettings } from './panels/run-settings.tsx';
import type { ShownCase } from './home.ts';
import type { Store } from './store.ts';
import { TokenRow } from './token-row.tsx';

/** The run, its forks, and the open case of the matrix. */
export function RunView({ store }: { readonly store: Store }): JSX.Element {
  const { shown, lanes, session } = store;
  const open = shown.value;
  const at = 'lane' in open ? open.lane : undefined;
  const { input } = session.value;
  return (
    <section class="run" aria-label="Run">
      <div class="tabs">
        {lanes.value.map((lane, index) => (
          <button
            key={index}
            type="button"
            aria-pressed={index === at}
            onClick={() => (shown.value = { lane: index })}
          >
            <span class={`dot ${lane.status}`} />
            {index === 0 ? 'Run' : `Fork ${index}`}
          </button>
        ))}
        {'cell' in open && (
          <button type="button" aria-pressed="true">
            <span class={`dot ${statusOf(open.cell)}`} />
            Case
          </button>
        )}
        <button type="button" class="quiet" onClick={() => store.set({ answers: [] })}>
          Start again
        </button>
      </div>
      {input !== undefined && (
        <label class="settings arguments">
          Arguments as JSON
          <input
            value={input}
            spellcheck={false}
            onChange={({ currentTarget }) => store.setInput(currentTarget.value)}
          />
        </label>
      )}
      {'cell' in open ? <Case {...open} /> : <LaneView store={store} at={open.lane} />}
    </section>
  );
}

function LaneView({ store, at }: { readonly store: Store; readonly at: number }): JSX.Element | null {
  const lane = store.lanes.value[at];
  if (lane === undefined) return null;
  const { question, pause, status, error } = lane;
  const fork = store.session.value.forks[at - 1];
  const origin = fork === undefined ? undefined : store.lanes.value[fork.lane];
  const hasRecording = status === 'completed' || status === 'failed';
  return (
    <>
      <RunSettings session={store.session.value} onChange={(settings) => store.set(settings)} />
      <p class={`verdict ${status}`} role="status">
        {at === 0 ? 'The run' : `Fork ${at} of token ${lane.from}`}: {status === 'waiting' ? 'waits' : status}
        <span> {summaryOf(lane)}</span>
      </p>
      {isRedacted(store.session.value) && (
        <p class="note">The link contains no values. Placeholders stand for the answers.</p>
      )}
      {store.pinned.value !== undefined && (
        <p class="note pinned">
          This run uses the pinned version. The editor contains the next version.{' '}
          {at === 0 && misfitsOf(store.misfits.value)}{' '}
          <button type="button" onClick={() => store.unpin()}>
            Run the next version
          </button>
        </p>
      )}
      <Compared origin={origin?.entries}>
        <Ladder
          entries={lane.entries}
          tokens={lane.tokens}
          token={(token, number) => (
            <TokenRow
              key={`${at} ${token.number} ${token.questions[0]?.id}`}
              store={store}
              lane={at}
              number={number}
              token={token}
            />
          )}
        />
      </Compared>
      {error !== undefined && <pre class="failure">{error}</pre>}
      {[...(question === undefined ? [] : [question]), ...(pause?.outside ?? [])].map((asked) => (
        <QuestionForm
          key={`${asked.id} ${lane.entries.length} ${lane.tokens.length}`}
          question={asked}
          onAnswer={(given) => store.act(at, given)}
        />
      ))}
      <ClockPanel
        key={lane.tokens.length}
        lane={lane}
        onWait={(ms) => store.act(at, { action: 'wait', ms })}
      />
      <ExportMenu name="run" title="Run" run={lane}>
        {hasRecording && (
          <button type="button" onClick={() => void store.record(at).then((text) => save('run.json', text))}>
            Recording
          </button>
        )}
      </ExportMenu>
    </>
  );
}

function Case({ cell, run }: ShownCase): JSX.Element {
  return (
    <>
      <div class={`verdict ${statusOf(cell)}`} role="status">
        <strong>{cell.when}:</strong>
        <p>{cell.what ?? 'all guarantees hold.'}</p>
      </div>
      {run !== undefined && (
        <>
          <Ladder entries={run.entries} tokens={[]} />
          <ExportMenu name="case" title={cell.when} run={run} />
        </>
      )}
    </>
  );
}

function statusOf({ what }: Cell): Lane['status'] {
  return what === undefined ? 'completed' : 'failed';
}

function summaryOf({ entries }: Lane): string {
  const of = (type: EntryView['type']): readonly EntryView[] =>
    entries.filter((entry) => entry.type === type);
  const left = of('uncompensated').map(({ id }) => id);
  return [
    counted(entries.at(-1)?.turn ?? 0, 'turn'),
    counted(of('ran').length, 'effect'),
    `${of('undone').length} undone`,
    ...(left.length === 0 ? [] : [`not undone: ${left.join(', ')}`]),
  ].join(' · ');
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function misfitsOf(misfits: readonly Misfit[] | undefined): string {
  if (misfits === undefined) return '';
  if (misfits.length === 0) return 'The next version can continue every token.';
  return `The next version cannot continue ${counted(misfits.length, 'token')}.`;
}
