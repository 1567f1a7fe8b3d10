import type { JSX } from 'preact';
import type { EntryView, Lane, Misfit } from '../model/view.ts';
import { Button, Shown } from '../parts/controls.tsx';
import { isRedacted } from '../parts/link.ts';
import { QuestionForm } from '../parts/question-form.tsx';
import { ComparedLadder, Ladder } from './ladder.tsx';
import { ExportMenu, save } from './panels/export-menu.tsx';
import { Clock, RunSettings } from './run-controls.tsx';
import type { ShownCase, Store } from './store.ts';
import { TimeSlider } from './panels/time-slider.tsx';
import { Statechart } from './statechart.tsx';
import { TokenRow } from './token-row.tsx';

export function RunView({ store }: { readonly store: Store }): JSX.Element {
  const { shown, lanes, session } = store;
  const open = shown.value;
  const at = 'lane' in open ? open.lane : undefined;
  const { input } = session.value;
  return (
    <section class={`run ${store.isStale.value ? 'stale' : ''}`} aria-label="Run">
      <div class="tabs">
        {lanes.value.map((lane, index) => (
          <Button
            key={index}
            aria-pressed={index === at}
            onClick={() => void store.openCell(undefined, index)}
          >
            <span class={`dot ${lane.status}`} />
            {index === 0 ? 'Run' : `Fork ${index}`}
          </Button>
        ))}
        {'cell' in open && (
          <Button aria-pressed="true">
            <span class={`dot ${open.cell.what === undefined ? 'completed' : 'failed'}`} />
            Case
          </Button>
        )}
        <Button class="quiet" onClick={() => store.set({ answers: [] })}>
          Start again
        </Button>
      </div>
      {input !== undefined && (
        <label class="settings arguments">
          Arguments as JSON
          <input
            value={input}
            spellcheck={false}
            onChange={({ currentTarget: { value } }) =>
              store.runAll({ answers: [], forks: [], input: value })
            }
          />
        </label>
      )}
      {'cell' in open ? <Case {...open} /> : <LaneView store={store} at={open.lane} />}
    </section>
  );
}

function LaneView({
  store,
  at,
}: {
  readonly store: Store;
  readonly at: number;
}): JSX.Element | null {
  const lane = store.lanes.value[at];
  if (lane === undefined) return null;
  const { question, pause, status, error } = lane;
  const fork = store.session.value.forks[at - 1];
  const acts = fork?.answers ?? store.session.value.answers;
  const origin = fork === undefined ? undefined : store.lanes.value[fork.lane];
  return (
    <>
      <RunSettings store={store} />
      <p class={`verdict ${store.isStale.value ? 'stale' : status}`} role="status" tabIndex={-1}>
        {at === 0 ? 'The run' : `Fork ${at} of token ${lane.from}`}:{' '}
        {status === 'waiting' ? 'waits' : status}
        <span> {store.isStale.value ? 'before the edit' : summaryOf(lane)}</span>
      </p>
      {isRedacted(store.session.value) && (
        <p class="note">The link contains no values. Placeholders stand for the answers.</p>
      )}
      {store.pinned.value !== undefined && (
        <p class="note pinned">
          This run uses the pinned version. The editor contains the next version.{' '}
          {at === 0 && misfitsOf(store.misfits.value)}{' '}
          <Button onClick={() => void store.togglePin()}>Run the next version</Button>
        </p>
      )}
      <TimeSlider entries={lane.entries} run={lane} />
      {lane.machine !== undefined && <Statechart machine={lane.machine} />}
      <ComparedLadder
        origin={origin?.entries}
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
          // After an answer, the next form is a new one. Time changes no form.
          key={JSON.stringify([
            at,
            asked,
            acts.filter((act) => 'id' in act && act.id === asked.id).length,
          ])}
          question={asked}
          onAnswer={(given) => store.act(at, given)}
        />
      ))}
      <Clock key={lane.tokens.length} store={store} at={at} />
      <ExportMenu name="run" title="Run" run={lane}>
        {(status === 'completed' || status === 'failed') && (
          <Button onClick={() => void store.record(at).then((text) => save('run.json', text))}>
            Recording
          </Button>
        )}
      </ExportMenu>
    </>
  );
}

function Case({ cell, run }: ShownCase): JSX.Element {
  return (
    <>
      <div class={`verdict ${cell.what === undefined ? 'completed' : 'failed'}`} role="status">
        <strong>
          <Shown text={cell.when} />:
        </strong>
        {cell.fact !== undefined && cell.fact !== cell.what && <p class="fact">{cell.fact}</p>}
        <p>{cell.what ?? 'all guarantees hold.'}</p>
      </div>
      {run !== undefined && (
        <>
          <TimeSlider entries={run.entries} run={run} />
          {run.machine !== undefined && <Statechart machine={run.machine} />}
          <Ladder entries={run.entries} tokens={[]} />
          <ExportMenu name="case" title={cell.when} run={run} />
        </>
      )}
    </>
  );
}

function summaryOf({ entries }: Lane): string {
  if (entries.at(-1)?.type === 'repeated') return 'the stored response of an earlier request';
  const of = (type: EntryView['type']): readonly EntryView[] =>
    entries.filter((each) => each.type === type);
  return [
    counted(entries.at(-1)?.turn ?? 0, 'turn'),
    counted(of('ran').length, 'effect'),
    `${of('undone').length} undone`,
    ...of('uncompensated').map(({ id }) => `${id} is not undone`),
  ].join(' · ');
}

const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`;

function misfitsOf(misfits: readonly Misfit[] | undefined): string {
  if (misfits === undefined) return '';
  if (misfits.length === 0) return 'The next version can continue every token.';
  return `The next version cannot continue ${counted(misfits.length, 'token')}.`;
}
