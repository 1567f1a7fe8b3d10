import type { JSX } from 'preact';
import type { Cell, EntryView, Lane, Misfit } from '../model/view.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { Ladder } from './ladder.tsx';
import { ExportMenu } from './panels/export-menu.tsx';
import { ladderSvg } from './panels/ladder-svg.ts';
import { ClockPanel } from './panels/clock-panel.tsx';
import { RunSettings } from './panels/run-settings.tsx';
import { QuestionForm } from '../parts/question-form.tsx';
import type { Store } from './store.ts';
import { TokenRow } from './token-row.tsx';

/** The run, its forks, and the open case of the matrix. */
export function RunView({ store }: { readonly store: Store }): JSX.Element {
  const { shown, lanes, cells } = store;
  const open = shown.value;
  const cell = 'cell' in open ? cells.value[open.cell] : undefined;
  const at = 'lane' in open ? open.lane : -1;
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
        {cell !== undefined && (
          <button type="button" aria-pressed="true">
            <span class={`dot ${cell.what === undefined ? 'completed' : 'failed'}`} />
            Case
          </button>
        )}
        <button type="button" class="quiet" onClick={() => store.restart()}>
          Start again
        </button>
      </div>
      {cell === undefined ? (
        <LaneView store={store} at={at === -1 ? 0 : at} />
      ) : (
        <Case store={store} cell={cell} />
      )}
    </section>
  );
}

function LaneView({ store, at }: { readonly store: Store; readonly at: number }): JSX.Element | null {
  const lane = store.lanes.value[at];
  if (lane === undefined) return null;
  const { question, pause, status, error, test } = lane;
  const { client = 'complete', isPaused = false } = store.session.value;
  return (
    <>
      <RunSettings client={client} isPaused={isPaused} onChange={(settings) => store.set(settings)} />
      <p class={`verdict ${status}`} role="status">
        {at === 0 ? 'The run' : `Fork ${at} of token ${lane.from}`}: {status === 'waiting' ? 'waits' : status}
        <span> {summaryOf(lane)}</span>
      </p>
      {store.isRedacted.value && (
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
      {error !== undefined && <pre class="failure">{error}</pre>}
      {[...(question === undefined ? [] : [question]), ...(pause?.outside ?? [])].map((asked) => (
        <QuestionForm
          key={`${asked.id} ${lane.entries.length} ${lane.tokens.length}`}
          question={asked}
          onAnswer={(given) => store.act(at, given)}
        />
      ))}
      {pause !== undefined && (
        <ClockPanel
          key={lane.tokens.length}
          pause={pause}
          isOpen={question === undefined || pause.dueInMs !== undefined}
          isMain={question === undefined && pause.outside.length === 0}
          onWait={(ms) => store.act(at, { action: 'wait', ms })}
        />
      )}
      <ExportMenu
        files={[
          { label: 'Diagram as SVG', name: 'run.svg', contents: () => ladderSvg('Run', lane.entries) },
          ...(status === 'completed' || status === 'failed'
            ? [{ label: 'Recording', name: 'run.json', contents: async () => await store.record(at) }]
            : []),
        ]}
      >
        {test !== undefined && <TestSource test={test} />}
      </ExportMenu>
    </>
  );
}

function Case({ store, cell }: { readonly store: Store; readonly cell: Cell }): JSX.Element {
  const { when, what } = cell;
  const { value: view } = store.case;
  return (
    <>
      <div class={`verdict ${what === undefined ? 'completed' : 'failed'}`} role="status">
        <strong>{when}:</strong>
        <p>{what ?? 'all guarantees hold.'}</p>
      </div>
      {view !== undefined && (
        <>
          <Ladder entries={view.entries} tokens={[]} />
          <ExportMenu
            files={[
              { label: 'Diagram as SVG', name: 'case.svg', contents: () => ladderSvg(when, view.entries) },
            ]}
          >
            <TestSource test={view.test} />
          </ExportMenu>
        </>
      )}
    </>
  );
}

function TestSource({ test }: { readonly test: string }): JSX.Element {
  return (
    <>
      <p>A Vitest test. Save it next to the files of the editor:</p>
      <CopyButton label="Copy test" text={() => test} />
      <pre tabIndex={0} role="region" aria-label="Test">
        {test}
      </pre>
    </>
  );
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
