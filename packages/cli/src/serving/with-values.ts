import { present } from '@mcp-saga/core/program';
import type { Program } from '@mcp-saga/server';
import type { ClientAnswer, Outcome, Runtime } from '@mcp-saga/server/internal';
import { wrapProgram } from '@mcp-saga/testing/internal';
import type { SeenDecision, SeenEvent, SeenTurn } from '../studio/seen-turns.ts';
import type { TurnFeed } from '../studio/turn-feed.ts';
import { messageOf } from './turn-log.ts';

/**
 * Wraps a saga to add its values to a feed. Only for the developer of the saga, since telemetry has
 * no values.
 */
export function withValues(saga: Program, feed: TurnFeed): Program {
  return wrapProgram(saga, (engine) => {
    const begun = new WeakMap<object, string>();
    return {
      begin: async (args, ...start) => {
        const state = await engine.begin(args, ...start);
        begun.set(state, JSON.stringify(args));
        return state;
      },
      advance: async (state, answers, runtime, end) => {
        feed.explain(present({ args: begun.get(state) }));
        const outcome = await engine.advance(state, answers, observed(runtime, answers, feed), end);
        feed.explain(factsOf(outcome));
        return outcome;
      },
    };
  });
}

function observed(
  runtime: Runtime,
  answers: ReadonlyMap<string, ClientAnswer>,
  feed: TurnFeed,
): Runtime {
  const { effects, observer } = runtime;
  const { outside } = effects;
  return {
    ...runtime,
    effects: {
      ...effects,
      outside: outside && {
        ...outside,
        ticket: async (question, facts) => {
          const url = await outside.ticket(question, facts);
          const { deadline } = facts;
          feed.report({ id: question.path, value: question.message, url, deadline });
          return url;
        },
      },
      perform: async (call) => {
        const running = effects.perform === undefined ? call.run(call.step) : effects.perform(call);
        // Telemetry has added the event just now.
        const event = feed.newestEvent();
        Object.assign(event, present({ key: call.step.idempotencyKey }));
        try {
          const value = await running;
          // A delivery returns a digest.
          if (call.outside === undefined) Object.assign(event, present({ value: toText(value) }));
          const id = call.path.replace(/\/(?:answers|close)(?:#\d+)?$/, '');
          if (call.outside === 'answers' && id !== call.path)
            Object.assign(event, present({ decision: decisionOf(id, value) }));
          return value;
        } catch (error) {
          event.value = messageOf(error);
          throw error;
        }
      },
    },
    observer: {
      ...observer,
      notify: (told) => {
        observer.notify(told);
        feed.report({ id: told.kind, ...present({ value: textOf(told) }) });
      },
      observe: (event) => {
        observer.observe(event);
        if (event.type === 'answered')
          Object.assign(feed.newestEvent(), answerOf(answers.get(event.path)));
      },
    },
  };
}

function textOf(told: Parameters<Runtime['observer']['notify']>[0]): string | undefined {
  if (told.kind === 'log') return toText(told.data);
  if (told.kind === 'completeUrl') return told.id;
  const { value, total, message = '' } = told;
  return `${value}${total === undefined ? '' : ` of ${total}`} ${message}`.trimEnd();
}

function answerOf(answer: ClientAnswer | undefined): Partial<SeenEvent> {
  const { result, error } = { result: undefined, error: undefined, ...answer };
  const { action, content = result } = Object(result) as Pick<SeenEvent, 'action'> & {
    content?: unknown;
  };
  return present({ action, value: toText(error?.message ?? content) });
}

interface PersonalAnswer {
  readonly by: 'link' | { readonly subject: string };
  readonly at: number;
  readonly approved?: boolean;
  readonly content?: unknown;
}

/** Result of a poll for answers: a decision, an event, or the `last` of them when time is over. */
interface Polled extends Partial<PersonalAnswer> {
  readonly reason?: string;
  readonly answers?: readonly PersonalAnswer[];
  readonly event?: unknown;
  readonly last?: Polled;
}

/** Reads the decision that a poll has found. Returns undefined if people still have time. */
function decisionOf(id: string, value: unknown): SeenDecision | undefined {
  const polled = Object(value) as Polled;
  const { approved, answers = [], reason, by, at, event } = polled.last ?? polled;
  if (by !== undefined && at !== undefined)
    return { id, outcome: 'received', answers: [toSeenAnswer({ by, at, content: event })] };
  if (approved === undefined) return undefined;
  const outcome = approved ? 'approved' : reason === 'timeout' ? 'timeout' : 'denied';
  return { id, outcome, answers: answers.map(toSeenAnswer) };
}

function toSeenAnswer({
  by,
  at,
  approved,
  content = {},
}: PersonalAnswer): SeenDecision['answers'][number] {
  const text = toText(content);
  const given = { approved, value: text === '{}' ? undefined : text };
  return { by: by === 'link' ? by : by.subject, at, ...present(given) };
}

function factsOf(outcome: Outcome): Partial<SeenTurn> {
  if (outcome.status === 'completed') return present({ result: toText(outcome.result) });
  if (outcome.status !== 'suspended') return {};
  const shown = outcome.steps.map(({ type, params, reason }) => [
    toText(params['message']) ?? type,
    reason,
  ]);
  return { messages: shown.map((parts) => parts.filter(Boolean).join('\n')) };
}

/** Shortens long values. */
function toText(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text !== undefined && text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text;
}
