import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import type { EntryView, TokenView } from '../model/view.ts';
import { durationOf, lookOf } from '@mcp-saga/testing/internal';
import { Fold, Shown } from '../parts/controls.tsx';
import { shownEvents } from './panels/time-slider.tsx';

interface LadderProps<T extends Pick<TokenView, 'traced'>> {
  readonly entries: readonly EntryView[];
  readonly tokens: readonly T[];
  readonly token?: (token: T, number: number) => ComponentChildren;
  /** Text beside the number of a turn. Default: the number of the process. */
  readonly caption?: (process: number) => ComponentChildren;
  /** Time between a turn and the one before, in milliseconds. Default: none, as for a replay. */
  readonly pause?: (process: number) => number;
  /** Number of events in the past. Default: those of the slider. */
  readonly shown?: number;
}

/** Ladder of a fork, beside the ladder of the origin on request. A run has no origin. */
export function ComparedLadder<T extends Pick<TokenView, 'traced'>>({
  origin,
  ...own
}: LadderProps<T> & { readonly origin: readonly EntryView[] | undefined }): JSX.Element {
  const isOpen = useSignal(false);
  if (origin === undefined) return <Ladder {...own} />;
  return (
    <>
      <label class="compare">
        <input
          type="checkbox"
          checked={isOpen.value}
          onChange={({ currentTarget }) => (isOpen.value = currentTarget.checked)}
        />
        Show the origin of the fork beside it
      </label>
      <div class={isOpen.value ? 'beside' : ''}>
        {isOpen.value && <Ladder entries={origin} tokens={[]} shown={Infinity} />}
        <Ladder {...own} />
      </div>
    </>
  );
}

/**
 * Events of a piece of a turn. The browser draws only visible pieces, and guesses the height of the
 * others.
 */
const longest = 20;
const eventHeight = 36;
const longestLine = 160; // a longer value is cut, and opens

export function Ladder<T extends Pick<TokenView, 'traced'>>({
  entries,
  tokens,
  token,
  caption = (life) => `process ${life}`,
  pause = () => 0,
  shown = shownEvents.value,
}: LadderProps<T>): JSX.Element {
  const pieces: { at: number; process: number; entries: EntryView[]; tokens: [T, number][] }[] = [];
  let next = 0;
  let process = 0;
  for (const [index, entry] of entries.entries()) {
    const last = pieces.at(-1);
    const before = entries[index - 1];
    if (entry.isFirst || before?.turn !== entry.turn || before.type === 'crashed') process += 1;
    if (last?.process === process && last.entries.length < longest) last.entries.push(entry);
    else pieces.push({ at: index, process, entries: [entry], tokens: [] });
    for (
      let each = tokens[next];
      each !== undefined && each.traced <= index + 1;
      each = tokens[next]
    )
      pieces.at(-1)?.tokens.push([each, next++]);
  }
  return (
    <div class="ladder">
      <div class="lanes" aria-hidden="true">
        <span>Client</span>
        <span>Server</span>
        <span>Outside world</span>
      </div>
      <ol class="turns">
        {pieces.map(({ at, process: life, entries: own, tokens: after }, number) => (
          <li key={at} class={at >= shown ? 'later' : ''}>
            {pieces[number - 1]?.process !== life && (
              <>
                <Pause ms={pause(life)} />
                <h3>
                  Turn {own[0]?.turn} <span>{caption(life)}</span>
                </h3>
              </>
            )}
            <ol style={{ containIntrinsicBlockSize: `auto ${own.length * eventHeight}px` }}>
              {own.map((entry, index) =>
                isRepeated(entries, at + index) ? null : (
                  <Event key={index} entry={entry} isLater={at + index >= shown} />
                ),
              )}
            </ol>
            {after.map(([each, place]) => token?.(each, place))}
          </li>
        ))}
      </ol>
    </div>
  );
}

/** Pauses from a second to days must fit one diagram, so their lengths are logarithmic. */
const longestPauseS = 1_000_000;

function Pause({ ms }: { readonly ms: number }): JSX.Element | null {
  const seconds = Math.round(ms / 1_000);
  if (seconds < 1) return null;
  const length = Math.min(1, Math.log(seconds) / Math.log(longestPauseS));
  return (
    <p class="pause" style={{ '--length': length }}>
      <span>{durationOf(seconds * 1_000)} later</span>
    </p>
  );
}

/** `true` for all but the first and the last attempts of a poll, and the waits between them. */
function isRepeated(entries: readonly EntryView[], at: number): boolean {
  const { type, id, turn } = entries[at] as EntryView;
  const isAlike = (other: EntryView | undefined): boolean =>
    other?.type === type && other.id === id && other.turn === turn;
  const isPoll = type === 'polled' || (type === 'waited' && entries[at - 1]?.type === 'polled');
  return isPoll && isAlike(entries[at - 2]) && isAlike(entries[at + 2]);
}

function Event({
  entry,
  isLater,
}: {
  readonly entry: EntryView;
  readonly isLater: boolean;
}): JSX.Element {
  const { type, id, isOpen, text, value = '', key, attempt = 1, time, reads = [], url } = entry;
  const shown = value !== '' && (
    <span class="value">
      <Shown text={value} />
    </span>
  );
  const { place, verb, isSentence, isBad } = lookOf(entry);
  return (
    <li
      class={`event ${place} ${type} ${isBad ? 'bad' : ''} ${isOpen ? 'open' : ''} ${isLater ? 'later' : ''}`}
    >
      <div>
        {reads.length > 0 && (
          <Fold summary={reads.length === 1 ? '1 entry' : `${reads.length} entries`}>
            {reads.map((read) => read.text).join('\n')}
          </Fold>
        )}
        {isSentence || place === 'here' || place === 'between' ? (
          <span class="sentence">
            <Shown text={text} />
          </span>
        ) : (
          <>
            {verb !== undefined && <span class="verb">{verb} </span>}
            {id !== undefined && <b>{id}</b>}{' '}
            {value.length > longestLine ? <Fold summary={shown} /> : shown}
            {key !== undefined && <code class="key">key {key}</code>}
            {attempt > 1 && <span class="verb"> attempt {attempt}</span>}
            {time !== undefined && (
              <span class="time" style={{ '--start': time.start, '--share': time.share }}>
                {durationOf(time.ms)}
              </span>
            )}
          </>
        )}
        {url !== undefined && (
          <a href={url} target="_blank" rel="noreferrer">
            Open the link
          </a>
        )}
      </div>
    </li>
  );
}
