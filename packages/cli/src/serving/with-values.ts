import { present } from '@mcp-saga/core/program';
import type { Program } from '@mcp-saga/server';
import type { ClientAnswer, Outcome, Runtime } from '@mcp-saga/server/internal';
import { wrapProgram } from '@mcp-saga/testing/internal';
import type { SeenEvent, SeenTurn } from '../studio/seen-turns.ts';
import type { TurnFeed } from '../studio/turn-feed.ts';
import { messageOf } from './turn-log.ts';

/** Wraps a saga to add its values to a feed. Only for the developer of the saga, since telemetry has no values. */
export function withValues(saga: Program, feed: TurnFeed): Program {
  return wrapProgram(saga, (program) => {
    const begun = new WeakMap<object, string>();
    return {
      begin: async (args, ...start) => {
        const state = await program.begin(args, ...start);
        begun.set(state, JSON.stringify(args));
        return state;
      },
      advance: async (state, answers, runtime, end) => {
        feed.explain(present({ args: begun.get(state) }));
        const outcome = await program.advance(state, answers, observed(runtime, answers, feed), end);
        feed.explain(factsOf(outcome));
        return outcome;
      },
    };
  });
}

function observed(runtime: Runtime, answers: ReadonlyMap<string, ClientAnswer>, feed: TurnFeed): Runtime {
  const { effects, observer } = runtime;
  return {
    ...runtime,
    effects: {
      ...effects,
      perform: async (call) => {
        const running = effects.perform === undefined ? call.run(call.step) : effects.perform(call);
        // Telemetry has added the event just now.
        const event = feed.newestEvent();
        Object.assign(event, present({ key: call.step.idempotencyKey }));
        try {
          const value = await running;
          Object.assign(event, present({ value: toText(value) }));
          return value;
        } catch (error) {
          event.value = messageOf(error);
          throw error;
        }
      },
    },
    observer: {
      ...observer,
      observe: (event) => {
        observer.observe(event);
        if (event.type === 'answered') Object.assign(feed.newestEvent(), answerOf(answers.get(event.path)));
      },
    },
  };
}

function answerOf(answer: ClientAnswer | undefined): Partial<SeenEvent> {
  const { result, error } = { result: undefined, error: undefined, ...answer };
  const { action, content = result } = Object(result) as Pick<SeenEvent, 'action'> & { content?: unknown };
  return present({ action, value: toText(error?.message ?? content) });
}

function factsOf(outcome: Outcome): Partial<SeenTurn> {
  if (outcome.status === 'completed') return present({ result: toText(outcome.result) });
  if (outcome.status !== 'suspended') return {};
  return { messages: outcome.steps.map(({ type, params }) => toText(params['message']) ?? type) };
}

/** Shortens long values. */
function toText(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text !== undefined && text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text;
}
