import type { SeenDecision, SeenEvent, SeenTurn, StudioState } from 'mcp-saga/studio';
import type { Given } from '../model/session.ts';
import type { EntryView } from '../model/view.ts';
import { durationOf, looks } from '@mcp-saga/testing/internal';
import type { Sent } from './mcp-client.ts';

export interface LiveToken {
  readonly turn: SeenTurn;
  /** Number of events before the token. */
  readonly traced: number;
  /** Newest request of this page that got the token. */
  readonly sent: Sent | undefined;
  /** IDs of all requests that got the token. */
  readonly holders: readonly (string | undefined)[];
  /** `true` if no turn has used the token. */
  readonly isNewest: boolean;
}

/** Turn with entries, and how many turns before it only polled for the same answer. */
export interface ShownTurn {
  readonly turn: SeenTurn;
  readonly polls: number;
}

/** Turns of a saga in one line: each turn continues the token of the turn before. */
export interface LiveLane {
  readonly turns: readonly SeenTurn[];
  /** Lane of the forked token. */
  readonly origin: LiveLane | undefined;
  /** Turns from the start, also of the lanes before. */
  readonly path: readonly SeenTurn[];
  /** The turns of this lane that have entries, which are all but repeated polls. */
  readonly shown: readonly ShownTurn[];
  /** Entries of the lanes before, up to the forked token. */
  readonly before: readonly EntryView[];
  readonly entries: readonly EntryView[];
  readonly tokens: readonly LiveToken[];
}

/** Sorts the turns of a saga into the run and the forks, in the order of their start. */
export function toLanes(
  turns: readonly SeenTurn[],
  sent: readonly Sent[],
  saga: string,
): LiveLane[] {
  const lines: SeenTurn[][] = [];
  for (const turn of turns) {
    const line = lineFor(turn, lines, sent);
    if (line === undefined) lines.push([turn]);
    else line.push(turn);
  }
  const lanes: LiveLane[] = [];
  for (const line of lines) lanes.push(toLane(line, lanes, sent, saga));
  return lanes;
}

function lineFor(
  next: SeenTurn,
  lines: SeenTurn[][],
  sent: readonly Sent[],
): SeenTurn[] | undefined {
  const { turn, request, action } = next;
  if (action === 'repeat') return lines.findLast((line) => line.some((each) => each.turn === turn));
  // A request may take several turns.
  const own = lines.find((line) => request !== undefined && line.at(-1)?.request === request);
  if (own !== undefined) return own;
  const parent = sent.find(({ id }) => id === request)?.parent;
  if (parent !== undefined) return lines.find((line) => holdersOf(line).includes(parent));
  // Other clients do not say which token they sent. The turn after a repeated question, without
  // events, has its number.
  return lines.findLast((line) => {
    const { turn: newest = 0, events = [], status } = newestOf(line) ?? {};
    return newest < turn || (newest === turn && status === 'suspended' && events.length === 0);
  });
}

/** A rejected request leaves the token before it good. */
function newestOf(turns: readonly SeenTurn[]): SeenTurn | undefined {
  return turns.findLast(({ status, action }) => status !== 'rejected' && action !== 'repeat');
}

/**
 * Requests that got the newest token: that of the newest turn, and those that repeated it. A queue
 * takes a turn without a request, and its client gets the token when it comes back.
 */
function holdersOf(turns: readonly SeenTurn[]): readonly (string | undefined)[] {
  const newest = newestOf(turns);
  return newest === undefined ? [] : holdersOfTurn(turns, newest);
}

function holdersOfTurn(
  turns: readonly SeenTurn[],
  { turn, request }: SeenTurn,
): readonly (string | undefined)[] {
  const repeated = turns.filter((other) => other.action === 'repeat' && other.turn === turn);
  return [request, ...repeated.map((other) => other.request)];
}

/** The newest turn that a queue took, if no client has its token yet. */
export function unheldTurn({ turns }: LiveLane): SeenTurn | undefined {
  const newest = newestOf(turns);
  const isUnheld = newest?.client === 'queue' && holdersOfTurn(turns, newest).length === 1;
  return isUnheld && newest.status === 'suspended' ? newest : undefined;
}

function toLane(
  turns: SeenTurn[],
  lanes: LiveLane[],
  sent: readonly Sent[],
  saga: string,
): LiveLane {
  const { turn: first = 0, request: start } = turns[0] ?? {};
  const { parent } = sent.find(({ id }) => id === start) ?? {};
  const isOrigin = ({ turn, holders }: LiveToken): boolean =>
    parent === undefined ? turn.turn === first - 1 : holders.includes(parent);
  const origin = lanes.findLast((lane) => lane.tokens.some(isOrigin));
  const ofOrigin = (origin?.path ?? []).filter(({ turn }) => turn < first);
  const before = entriesOfAll(ofOrigin, saga);
  const waits = new Map<string, number>();
  for (const turn of ofOrigin) noteWaits(turn, waits);
  const entries: EntryView[] = [];
  const tokens: LiveToken[] = [];
  const shown: ShownTurn[] = [];
  let polls = 0;
  for (const [at, turn] of turns.entries()) {
    noteWaits(turn, waits);
    const next = turns[at + 1];
    if (isPoll(turn) && next !== undefined && isPoll(next)) {
      polls += 1;
      continue;
    }
    entries.push(...entriesOf(turn, saga, waits));
    shown.push({ turn, polls });
    polls = 0;
    if (turn.status !== 'suspended' || turn.action === 'repeat') continue;
    const isLast = turn.request === undefined || next?.request !== turn.request;
    const holders = isLast ? holdersOfTurn(turns, turn) : [];
    tokens.push({
      turn,
      traced: entries.length,
      sent: sent.findLast(({ id, reply }) => reply !== undefined && holders.includes(id)),
      holders,
      isNewest: turn === newestOf(turns),
    });
  }
  return { turns, entries, tokens, shown, origin, before, path: [...ofOrigin, ...turns] };
}

/** Time between a shown turn, numbered from 1, and the one before, in milliseconds. */
export function pauseBefore({ shown }: LiveLane, request: number): number {
  const { turn: before } = shown[request - 2] ?? {};
  const { turn } = shown[request - 1] ?? {};
  if (turn === undefined || before?.durationMs === undefined) return 0;
  return turn.startedAt - before.startedAt - before.durationMs;
}

function entriesOfAll(turns: readonly SeenTurn[], saga: string): readonly EntryView[] {
  const waits = new Map<string, number>();
  return turns.flatMap((turn) => {
    noteWaits(turn, waits);
    return entriesOf(turn, saga, waits);
  });
}

/** `true` for a turn that asked for an answer which had not come. */
function isPoll({ action, status, asked, events }: SeenTurn): boolean {
  return (
    action === 'resume' &&
    status === 'suspended' &&
    asked.length === 0 &&
    events.length > 0 &&
    events.every(isVain)
  );
}

/** `true` for a poll that found nothing. */
function isVain({ kind, type, value, decision }: SeenEvent): boolean {
  return kind === 'poll' && type === 'succeeded' && value === undefined && decision === undefined;
}

/** Link at which a person decides, or a system sends an event. */
export interface OpenLink {
  readonly id: string;
  readonly url: string;
}

/** Returns the links of a waiting run that nobody has answered. */
export function openLinks({ path }: LiveLane): readonly OpenLink[] {
  const links = new Map<string, string>();
  for (const { events } of path)
    for (const { id, url, decision } of events) {
      if (url !== undefined) links.set(id, url);
      if (decision !== undefined) links.delete(decision.id);
    }
  const isWaiting = newestOf(path)?.status === 'suspended';
  return isWaiting ? [...links].map(([id, url]) => ({ id, url })) : [];
}

/** Adds the approvals and events that a turn began to wait for, and removes the decided ones. */
function noteWaits({ events }: SeenTurn, waits: Map<string, number>): void {
  for (const { id, url, deadline = Infinity, decision } of events) {
    if (url !== undefined) waits.set(id, deadline);
    if (decision !== undefined) waits.delete(decision.id);
  }
}

/** What the queue of the process knows about a saga. */
export type QueueFacts = Pick<StudioState, 'continuesAt' | 'hasOwnQueue'>;

/**
 * Says what continues a waiting saga if its client never comes back. Undefined for a saga that runs
 * or has ended.
 */
export function whatContinues(
  { turns, path }: LiveLane,
  { continuesAt, hasOwnQueue = false }: QueueFacts,
): string | undefined {
  const newest = newestOf(turns);
  if (newest !== undefined && newest.status !== 'suspended') return undefined;
  const from = turns.at(-1)?.startedAt ?? 0;
  const { asked = [], turn = 0, expiresAt = Infinity } = newest ?? {};
  if (continuesAt !== undefined && (asked.length === 0 || continuesAt < expiresAt)) {
    const waits = new Map<string, number>();
    for (const each of path) noteWaits(each, waits);
    const decided = [...waits].map(([id, at]) =>
      at === Infinity ? `when ${id} is decided` : `when ${id} is decided, or ${momentOf(at, from)}`,
    );
    // Between decisions, the queue only looks whether there is one.
    const when = decided.length > 0 ? decided.join(', and ') : momentOf(continuesAt, from);
    return `If the client is gone, the queue continues the saga ${when}.`;
  }
  // Without a token, no client can come back.
  if (newest === undefined)
    return hasOwnQueue || turns.at(-1)?.status !== 'rejected'
      ? undefined
      : 'Nothing continues the saga: its client has no token, and the queue has no message.';
  const until =
    expiresAt === Infinity ? '' : `, until ${momentOf(expiresAt, from).replace(/^\w+ /, '')}`;
  const what = asked.length > 0 ? 'an answer and token' : 'token';
  const client = `Only the client continues the saga, with ${what} ${turn}${until}.`;
  if (hasOwnQueue) return `${client} If it is gone, the queue of your server decides.`;
  return continuesAt === undefined
    ? client
    : `${client} If it is gone, the queue then ends the saga.`;
}

type Facts = Pick<EntryView, 'type'> & Partial<EntryView>;

/** `waits`: approvals and events without a decision after the turn, with the end of their time. */
export function entriesOf(
  turn: SeenTurn,
  saga: string,
  waits: ReadonlyMap<string, number> = new Map(),
): readonly EntryView[] {
  const facts = [...beginOf(turn, saga)];
  if (turn.action !== 'repeat')
    facts.push(
      ...foldPolls(turn.events).flatMap((event) => factsOf(event, turn)),
      ...endOf(turn, waits),
    );
  return facts.map((each, at) => {
    const said = [looks[each.type].verb ?? each.type, each.id, each.value];
    return { text: said.filter(Boolean).join(' '), turn: turn.turn, isFirst: at === 0, ...each };
  });
}

function beginOf({ action, args }: SeenTurn, saga: string): readonly Facts[] {
  if (action === 'resume') return [];
  if (action === 'start') return [{ type: 'started', id: saga, value: args }];
  if (action === 'cancel')
    return [{ type: 'cancelledFromOutside', text: 'The client cancels the saga.' }];
  return [{ type: 'told', text: 'The client got the stored response. Nothing ran.' }];
}

/** Makes one event of successive polls, whose time begins with the first one. */
function foldPolls(events: readonly SeenEvent[]): readonly SeenEvent[] {
  const folded: SeenEvent[] = [];
  for (const event of events) {
    const last = folded.at(-1);
    if (last === undefined || last.id !== event.id || !isVain(last) || event.kind !== 'poll') {
      folded.push(event);
      continue;
    }
    const { startedAt = event.startedAt } = last;
    const endedAt =
      event.durationMs === undefined ? undefined : (event.startedAt ?? 0) + event.durationMs;
    folded[folded.length - 1] = {
      ...event,
      ...(startedAt !== undefined && { startedAt }),
      ...(startedAt !== undefined && endedAt !== undefined && { durationMs: endedAt - startedAt }),
    };
  }
  return folded;
}

/** Polls of the engine for answers of people say nothing until they find a decision. */
function factsOf(event: SeenEvent, turn: SeenTurn): readonly Facts[] {
  const { decision } = event;
  if (decision !== undefined) return decisionOf(decision);
  return isVain(event) && /\/answers(?:#\d+)?$/.test(event.id) ? [] : [eventOf(event, turn)];
}

function decisionOf({ id, outcome, answers }: SeenDecision): readonly Facts[] {
  const values = answers.map(({ by, at, approved, value }) => {
    const verb = approved === undefined ? 'received' : approved ? 'approved' : 'denied';
    const who = by === 'link' ? 'holder of the link' : by;
    return [verb, who, clockTimeOf(at), value].filter(Boolean).join(' · ');
  });
  if (outcome === 'timeout') values.push('no decision in time');
  return values.map((value) => ({ type: 'ran', id, value, text: `${id} ${value}` }));
}

function clockTimeOf(at: number): string {
  return new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

const weekMs = 7 * 24 * 60 * 60 * 1_000;

/** Writes a time with its day, which is a weekday within a week of `from`. */
function dayTimeOf(at: number, from: number): string {
  const day: Intl.DateTimeFormatOptions =
    at - from < weekMs ? { weekday: 'long' } : { year: 'numeric', month: 'short', day: 'numeric' };
  return `${new Date(at).toLocaleDateString([], day)} ${clockTimeOf(at)}`;
}

/** Writes `at 14:00:00` on the day of `from`, and `on Monday 14:00` later. */
function momentOf(at: number, from: number): string {
  return new Date(at).toDateString() === new Date(from).toDateString()
    ? `at ${new Date(at).toLocaleTimeString()}`
    : `on ${dayTimeOf(at, from)}`;
}

/** Says what a saga waits for: `manager until Monday 14:00`. */
function waitedFor(waits: ReadonlyMap<string, number>, from: number): string {
  return [...waits]
    .map(([id, at]) => (at === Infinity ? id : `${id} until ${dayTimeOf(at, from)}`))
    .join(', and for ');
}

function eventOf(event: SeenEvent, turn: SeenTurn): Facts {
  const {
    id,
    kind,
    type,
    action,
    errorType,
    attempt,
    key,
    value,
    startedAt,
    durationMs: ms,
    url,
  } = event;
  const whole = Math.max(turn.durationMs ?? Date.now() - turn.startedAt, 1);
  const isTimed = startedAt !== undefined && ms !== undefined;
  const time = isTimed
    ? { start: (startedAt - turn.startedAt) / whole, share: ms / whole, ms }
    : undefined;
  const facts = { id, attempt, key, value, time };
  const running = turn.status === 'running' ? 'runs now' : 'unknown outcome';
  switch (type) {
    case 'answered':
      if (action === 'decline') return { type: 'declined', id };
      return action === 'cancel' ? { type: 'cancelled', id } : { type, ...facts };
    case 'told':
      return url === undefined
        ? { type, id, text: `${id}: ${value}` }
        : { type: 'ran', id, value, url };
    case 'passed':
      return { type, id, text: `${kind} ${id}` };
    case 'failed':
      return {
        ...facts,
        type: kind === 'undo' ? 'undoFailed' : 'failed',
        value: value ?? errorType,
      };
    case 'running':
    case 'succeeded':
      return {
        ...facts,
        type: doneTypes[kind] ?? 'ran',
        value: type === 'succeeded' ? value : running,
        isOpen: type === 'running',
      };
  }
}

const doneTypes: Readonly<Record<string, EntryView['type']>> = { undo: 'undone', poll: 'polled' };

function endOf(turn: SeenTurn, waits: ReadonlyMap<string, number>): readonly Facts[] {
  const {
    status,
    asked,
    messages,
    retryAfterMs,
    result,
    error,
    errorType,
    uncompensated = [],
  } = turn;
  switch (status) {
    case 'running':
      return [];
    case 'suspended':
      if (asked.length === 0 && waits.size > 0)
        return [{ type: 'waited', text: `waits for ${waitedFor(waits, turn.startedAt)}` }];
      if (asked.length === 0 && retryAfterMs !== undefined)
        return [{ type: 'waited', text: `waits ${durationOf(retryAfterMs)}` }];
      return asked.map(({ stepId: id, type }, at) => ({
        type: 'asked',
        id,
        value: messages?.[at] ?? type,
      }));
    case 'completed':
      return [{ type: 'completed', value: result ?? '' }];
    case 'failed':
      return [
        ...uncompensated.map((id): Facts => ({
          type: 'uncompensated',
          id,
          text: `${id} is not undone`,
        })),
        { type: 'gaveUp', value: error ?? errorType },
      ];
    case 'rejected':
      if (errorType === 'turn_aborted')
        return [{ type: 'lost', text: 'Interrupted. Nothing is undone.' }];
      if (errorType === 'process_killed')
        return [{ type: 'lost', text: 'The process was killed. Nothing is undone.' }];
      return [{ type: 'refused', value: errorType }];
  }
}

/**
 * Answers of the client in some turns. The playground asks for others: errors, cut values, and
 * decisions of other people.
 */
export function answersOf(turns: readonly SeenTurn[]): readonly Given[] {
  return turns
    .filter(({ action, status }) => action !== 'repeat' && status !== 'rejected')
    .flatMap(({ events }) => events)
    .filter(({ type, kind }) => type === 'answered' && /^(?:elicit|sample|roots)/.test(kind))
    .map(({ id, kind, action = 'accept', value }) => ({
      id,
      action,
      content: toContent(kind, value),
    }))
    .filter(({ action, content }) => action !== 'accept' || content !== undefined);
}

function toContent(kind: string, value: string = ''): unknown {
  try {
    const content = JSON.parse(value) as {
      readonly text?: string;
      readonly roots?: readonly object[];
    };
    return kind === 'sample' ? content.text : kind === 'roots' ? content.roots : content;
  } catch {
    return undefined;
  }
}
