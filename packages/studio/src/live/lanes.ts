import type { SeenEvent, SeenTurn } from 'mcp-saga/studio';
import type { EntryView, StepTime } from '../model/view.ts';
import { durationOf } from '../page/panels/duration.ts';
import type { Sent } from './sent-requests.ts';

/** Token of a turn. */
export interface LiveToken {
  readonly turn: SeenTurn;
  /** Number of events before the token. */
  readonly traced: number;
  /** Request of this page that got the token. */
  readonly sent: Sent | undefined;
}

/** Turns of a saga in one line: each turn continues the token of the turn before. */
export interface LiveLane {
  readonly turns: readonly SeenTurn[];
  /** Number of the token at which the lane begins, for a fork. */
  readonly from: number | undefined;
  readonly entries: readonly EntryView[];
  readonly tokens: readonly LiveToken[];
}

type Line = Pick<LiveLane, 'from'> & { readonly turns: SeenTurn[] };

/** Sorts the turns of a saga into its run and its forks, in the order in which they began. */
export function toLanes(
  turns: readonly SeenTurn[],
  sent: ReadonlyMap<string, Sent>,
  saga: string,
): readonly LiveLane[] {
  const lines: Line[] = [];
  for (const turn of turns) {
    const line = lineFor(turn, lines, sent);
    if (line === undefined)
      lines.push({ from: lines.length === 0 ? undefined : turn.turn - 1, turns: [turn] });
    else line.turns.push(turn);
  }
  return lines.map((line) => toLane(line, sent, saga));
}

function lineFor(
  { turn, request, action }: SeenTurn,
  lines: readonly Line[],
  sent: ReadonlyMap<string, Sent>,
): Line | undefined {
  if (action === 'repeat') return lines.findLast(({ turns }) => turns.some((each) => each.turn === turn));
  const parent = sent.get(request ?? '')?.parent;
  // A request may take several turns.
  const own = lines.find(({ turns }) => request !== undefined && turns.at(-1)?.request === request);
  if (own !== undefined) return own;
  if (parent !== undefined) return lines.find(({ turns }) => newestOf(turns)?.request === parent);
  // Other clients do not say which token they sent.
  return lines.findLast(({ turns }) => (newestOf(turns)?.turn ?? 0) < turn);
}

/** A rejected request leaves the token before it good. */
function newestOf(turns: readonly SeenTurn[]): SeenTurn | undefined {
  return turns.findLast(({ status, action }) => status !== 'rejected' && action !== 'repeat');
}

function toLane({ turns, from }: Line, sent: ReadonlyMap<string, Sent>, saga: string): LiveLane {
  const entries: EntryView[] = [];
  const tokens: LiveToken[] = [];
  for (const [at, turn] of turns.entries()) {
    const isLast = turns[at + 1]?.request !== turn.request || turn.request === undefined;
    entries.push(...entriesOf(turn, saga));
    if (turn.status === 'suspended' && turn.action !== 'repeat')
      tokens.push({ turn, traced: entries.length, sent: isLast ? sent.get(turn.request ?? '') : undefined });
  }
  return { turns, from, entries, tokens };
}

function entriesOf(turn: SeenTurn, saga: string): readonly EntryView[] {
  const of: ToEntry = (type, facts) => ({ ...empty, turn: turn.turn, type, ...facts });
  if (turn.action === 'repeat')
    return [of('told', { text: 'The request was sent again, and got the stored response.' })];
  const begun =
    turn.action === 'start'
      ? [of('started', { id: saga, value: turn.args })]
      : turn.action === 'cancel'
        ? [of('cancelledFromOutside', { text: 'The client cancels the saga.' })]
        : [];
  const events = turn.events.map((event) => entryOf(event, of, timeOf(event, turn)));
  return [...begun, ...events, ...endOf(turn, of)];
}

const empty = { attempt: undefined, id: undefined, text: '', value: undefined, key: undefined };

type ToEntry = (type: EntryView['type'], facts: Partial<EntryView>) => EntryView;

function entryOf(
  { id, kind, type, action, errorType, attempt, key, value }: SeenEvent,
  of: ToEntry,
  time: StepTime | undefined,
): EntryView {
  const facts = { id, attempt, key, value, time };
  switch (type) {
    case 'answered':
      if (action === 'decline' || action === 'cancel')
        return of(action === 'decline' ? 'declined' : 'cancelled', { id });
      return of('answered', facts);
    case 'passed':
      return of('passed', { id, text: `${kind} ${id}` });
    case 'failed':
      return of(kind === 'undo' ? 'undoFailed' : 'failed', { ...facts, value: value ?? errorType });
    case 'running':
      return of(doneTypes[kind] ?? 'ran', { ...facts, value: 'runs now' });
    case 'succeeded':
      return of(doneTypes[kind] ?? 'ran', facts);
  }
}

function timeOf({ startedAt, durationMs: ms }: SeenEvent, turn: SeenTurn): StepTime | undefined {
  if (startedAt === undefined || ms === undefined) return undefined;
  const whole = Math.max(turn.durationMs ?? Date.now() - turn.startedAt, 1);
  return { start: (startedAt - turn.startedAt) / whole, share: ms / whole, ms };
}

const doneTypes: Readonly<Record<string, EntryView['type']>> = { undo: 'undone', poll: 'polled' };

function endOf(turn: SeenTurn, of: ToEntry): readonly EntryView[] {
  const { status, asked, messages, retryAfterMs, result, error, errorType, uncompensated = [] } = turn;
  switch (status) {
    case 'running':
      return [];
    case 'suspended':
      if (asked.length > 0 || retryAfterMs === undefined)
        return asked.map(({ stepId: id, type }, at) => of('asked', { id, value: messages?.[at] ?? type }));
      return [of('waited', { text: `waits ${durationOf(retryAfterMs)}` })];
    case 'completed':
      return [of('completed', { value: result ?? '' })];
    case 'failed':
      return [
        ...uncompensated.map((id) => of('uncompensated', { id, text: `${id} is not undone` })),
        of('gaveUp', { value: error ?? errorType }),
      ];
    case 'rejected':
      return [of('refused', { value: errorType })];
  }
}
