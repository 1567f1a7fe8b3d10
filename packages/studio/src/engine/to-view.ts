import type { ClientStep } from '@mcp-saga/server';
import { lineOf, type Rule, type TraceEntry } from '@mcp-saga/testing';
import { formOf, simplestContent, type AskedOutside } from '@mcp-saga/testing/internal';
import type { EntryView, QuestionView } from '../model/view.ts';

type Facts = Partial<EntryView & Record<'saga', string>> & {
  readonly error?: Pick<EntryView, 'stepId'>;
};

/** Fields with the value of an event. The first existing field counts. */
const valued = ['reason', 'message', 'answer', 'result', 'error', 'text', 'input'];

/** Converts an event to plain data, for the page. */
export function toEntryView(entry: TraceEntry): EntryView {
  const { turn, type } = entry;
  const { id, key, attempt, when, by, saga, error } = entry as Facts;
  const stepId = type === 'gaveUp' ? error?.stepId : undefined;
  const facts = { turn, attempt, type, when, by, id: id ?? saga, stepId, key };
  const fields = new Map<string, unknown>(Object.entries(entry));
  const value = valued.map((name) => fields.get(name)).find((each) => each !== undefined);
  return { ...facts, text: lineOf(entry), value: value === undefined ? undefined : toText(value) };
}

type Noted = Readonly<Record<'kind' | 'id' | 'outcome', string>> & { readonly value?: unknown };

/**
 * Adds reads and checkpoints to the events before which they ran, and the IDs of sleeps to their
 * waits.
 */
export function withReads(
  entries: readonly EntryView[],
  journal: readonly Noted[],
): readonly EntryView[] {
  const sleep = /(^|\/)sleep([#@]|$)/;
  const sleeps = journal.filter(({ kind, id }) => kind === 'checkpoint' && sleep.test(id));
  const waits = entries.filter(({ type }) => type === 'waited');
  // Other waits, and sleeps within a turn, leave no pairs.
  const idOf = (entry: EntryView): string | undefined =>
    sleeps[waits.indexOf(entry)]?.id ?? entry.id;
  const all =
    waits.length === sleeps.length
      ? entries.map((entry) => ({ ...entry, id: idOf(entry) }))
      : [...entries];
  let at = all.length - 1;
  for (const { kind, id, outcome, value } of journal.toReversed()) {
    const found = all.findIndex((entry) => entry.type !== 'started' && entry.id === id);
    if (found >= 0) at = found;
    const entry = all[at];
    const isShown = outcome === 'read' || (kind === 'checkpoint' && !sleep.test(id));
    if (!isShown || entry === undefined) continue;
    const shown = kind === 'now' ? new Date(Number(value ?? 0)).toISOString() : toText(value);
    const known = value === undefined ? { text: id } : { text: `${id} ${shown}`, value: shown };
    const read: EntryView = { turn: entry.turn, type: 'passed', id, ...known };
    all[at] = { ...entry, reads: [read, ...(entry.reads ?? [])] };
  }
  return all;
}

const longest = 400;

export function toText(value: unknown): string {
  if (value instanceof Error) return value.message;
  if (typeof value === 'string') return value.slice(0, longest);
  const text = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'bigint' ? `${inner}n` : inner,
  );
  return (text ?? typeof value).slice(0, longest);
}

/** Converts a question to plain data. The form starts with the answer in `rules`. */
export function toQuestionView(step: ClientStep, rules: readonly Rule[]): QuestionView {
  const { stepId: id, type, params, reason } = step;
  const ruleOf = (name: string): Rule | undefined =>
    rules.findLast(
      (each) => (each.kind === 'answer' || each.kind === 'sample') && each.id === name,
    );
  // A rule for a question of a machine counts in each round.
  const rule = ruleOf(id) ?? ruleOf(id.replace(/@\d+$/, ''));
  const answer = rule !== undefined && 'answer' in rule ? rule.answer : undefined;
  const { message = '', url = '' } = params as Partial<Record<'message' | 'url', string>>;
  const model = { text: typeof answer === 'string' ? answer : 'Yes' };
  const scripted = type === 'sampling' ? model : typeof answer === 'object' ? answer : undefined;
  return { id, type, message, ...(url !== '' && { url }), reason, ...toFormView(params, scripted) };
}

/** Converts an approval or an event to plain data. The form starts with the answer in `rules`. */
export function toOutsideView(
  { id, question }: AskedOutside,
  rules: readonly Rule[],
): QuestionView {
  const { kind, message, form } = question;
  const rule = rules.findLast((each) => each.kind === 'outside' && each.id === id);
  const given = rule?.kind === 'outside' && typeof rule.given === 'object' ? rule.given : [];
  const view = toFormView({ requestedSchema: form }, given[0]?.content);
  return { id, type: kind, message, reason: undefined, ...view };
}

type FormView = Pick<QuestionView, 'fields' | 'required' | 'content'>;

function toFormView(params: Parameters<typeof formOf>[0], scripted: unknown): FormView {
  const form = formOf(params);
  const content = scripted ?? (form === undefined ? {} : simplestContent(form));
  return {
    fields: form?.properties,
    required: form?.required,
    content: content as FormView['content'],
  };
}
