import type { ComponentChildren, JSX } from 'preact';
import type { EntryView, TokenView } from '../model/view.ts';
import { durationOf } from './panels/duration.ts';
import { Fold } from './panels/fold.tsx';
import { badEvents, places } from './panels/ladder-svg.ts';

/** Words before the ID of an event. Absent: the ID and the value are enough. */
const verbs: Partial<Readonly<Record<EntryView['type'], string>>> = {
  started: 'call',
  declined: 'decline',
  cancelled: 'dismiss',
  failed: 'failed',
  undone: 'undo',
  undoFailed: 'undo failed',
  polled: 'poll',
  completed: 'result',
  gaveUp: 'error',
  refused: 'refused',
};

/** Events with a sentence of the kit, beside those that are not between two lifelines. */
const sentences: ReadonlySet<EntryView['type']> = new Set(['lost', 'cancelledFromOutside', 'told']);

interface LadderProps<T extends Pick<TokenView, 'traced'>> {
  readonly entries: readonly EntryView[];
  readonly tokens: readonly T[];
  readonly token?: (token: T, number: number) => ComponentChildren;
  /** Text beside the number of a turn. */
  readonly caption?: (turn: number) => string;
}

/** Events of a piece of a turn. The browser draws only visible pieces, and guesses the height of the others. */
const longest = 20;
const eventHeight = 36;
const longestLine = 160; // a longer value is cut, and opens

/** A run as a ladder: client, server, and outside world, turn by turn. */
export function Ladder<T extends Pick<TokenView, 'traced'>>({
  entries,
  tokens,
  token,
  caption = (turn) => `process ${turn}`,
}: LadderProps<T>): JSX.Element {
  const pieces: { turn: number; isFirst: boolean; entries: EntryView[]; tokens: [T, number][] }[] = [];
  let next = 0;
  for (const [index, entry] of entries.entries()) {
    const last = pieces.at(-1);
    const isFirst = last?.turn !== entry.turn;
    if (!isFirst && last.entries.length < longest) last.entries.push(entry);
    else pieces.push({ turn: entry.turn, isFirst, entries: [entry], tokens: [] });
    for (let each = tokens[next]; each !== undefined && each.traced <= index + 1; each = tokens[next])
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
        {pieces.map(({ turn, isFirst, entries: own, tokens: after }, at) => (
          <li key={at}>
            {isFirst && (
              <h3>
                Turn {turn} <span>{caption(turn)}</span>
              </h3>
            )}
            <ol style={{ containIntrinsicBlockSize: `auto ${own.length * eventHeight}px` }}>
              {own.map((entry, index) => (
                <Event key={index} entry={entry} />
              ))}
            </ol>
            {after.map(([each, number]) => token?.(each, number))}
          </li>
        ))}
      </ol>
    </div>
  );
}

function Event({ entry }: { readonly entry: EntryView }): JSX.Element {
  const { type, id, text, value = '', key, attempt = 1, time } = entry;
  const shown = value !== '' && <span class="value">{value}</span>;
  const verb = verbs[type];
  return (
    <li class={`event ${places[type]} ${type} ${badEvents.has(type) ? 'bad' : ''}`}>
      <div>
        {sentences.has(type) || places[type] === 'here' || places[type] === 'between' ? (
          <span class="sentence">{text}</span>
        ) : (
          <>
            {verb !== undefined && <span class="verb">{verb} </span>}
            {id !== undefined && <b>{id}</b>} {value.length > longestLine ? <Fold summary={shown} /> : shown}
            {key !== undefined && <code class="key">key {key}</code>}
            {attempt > 1 && <span class="verb"> attempt {attempt}</span>}
            {time !== undefined && (
              <span class="time" style={{ '--start': time.start, '--share': time.share }}>
                {durationOf(time.ms)}
              </span>
            )}
          </>
        )}
      </div>
    </li>
  );
}
