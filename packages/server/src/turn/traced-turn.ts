import { present } from '@mcp-saga/core/program';
import { AnswerConflict, TurnAborted, StepError } from '@mcp-saga/core';
import { isWanted } from '../settings/default-log.ts';
import { quietly } from '../settings/guarded-hooks.ts';
import type { Observer } from '../settings/host-parts.ts';
import type { TurnRequest } from './turn-request.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { TracedEnd, TracedTurn, TurnSpan } from '../model/telemetry.ts';
import type { SagaTurn } from '../model/turn.ts';

/** What a turn carries on for a trace: printable, and no longer than `traceparent` and `tracestate` can be. */
const carriable = /^[\x20-\x7e]{1,600}$/;

/** A turn in its trace. Without telemetry it does nothing. */
export class TurnTrace {
  readonly #observer: Observer;
  readonly #request: Pick<TurnRequest, 'caller' | 'end'>;
  /** Undefined without telemetry. */
  span: TurnSpan | undefined;

  constructor(observer: Observer, request: Pick<TurnRequest, 'caller' | 'end'>) {
    this.#observer = observer;
    this.#request = request;
  }

  /** Begins the span of a turn, and returns the saga with what its token carries of the trace. */
  begin(saga: SealedSaga): SealedSaga {
    const { caller, end: request } = this.#request;
    const action = request !== undefined ? 'cancel' : saga.claims.turn === 0 ? 'start' : 'resume';
    this.span = begin(this.#observer, saga, { action, client: caller.traceContext });
    if (this.span === undefined) return saga;
    return { ...saga, state: { ...saga.state, ...carriedBy(this.span, this.#observer.hooks.onError) } };
  }

  /** Runs the work of a turn within its span. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    return this.span === undefined
      ? await work()
      : await within(this.span, this.#observer.hooks.onError, work);
  }

  /** Ends the span of a turn. */
  end(turn: SagaTurn): void {
    if (this.span !== undefined) end(this.#observer, this.span, endOf(turn));
  }

  /** Ends the span of a turn that has thrown. */
  fail(error: unknown): void {
    if (this.span === undefined) return;
    const isFault = !(error instanceof TurnAborted) && !(error instanceof AnswerConflict);
    const errorType = errorTypeOf(error);
    end(this.#observer, this.span, { status: 'rejected', errorType, isFault, asked: [], tokenBytes: 0 });
  }
}

/** Tells of a request that a guard has answered as it was answered before. */
export function tracedAgain(observer: Observer, saga: SealedSaga, turn: SagaTurn): void {
  const span = begin(observer, saga, { action: 'repeat', client: undefined });
  if (span !== undefined) end(observer, span, endOf(turn));
}

/** Runs `work` exactly once as part of a span, even if the telemetry throws or never calls it. */
export async function within<T>(
  span: Pick<TurnSpan, 'within'>,
  onError: (error: unknown) => void,
  work: () => Promise<T>,
): Promise<T> {
  let working: Promise<T> | undefined;
  const once = (): Promise<T> => (working ??= work());
  quietly(() => span.within(() => void once()), onError);
  return await once();
}

function begin(
  { telemetry, hooks }: Observer,
  { sagaId, claims, state }: SealedSaga,
  request: Pick<TracedTurn, 'action' | 'client'>,
): TurnSpan | undefined {
  if (telemetry === undefined) return undefined;
  const { name, version } = claims.saga;
  let span: TurnSpan | undefined;
  const facts: TracedTurn = {
    ...request,
    saga: name,
    version,
    sagaId,
    turn: claims.turn + 1,
    method: claims.method,
    parent: state.trace,
  };
  quietly(() => (span = telemetry.turn(facts)), hooks.onError);
  return span;
}

function carriedBy(span: TurnSpan, onError: (error: unknown) => void): { readonly trace?: string } {
  let parent: unknown;
  quietly(() => {
    ({ parent } = span);
    if (parent !== undefined && !isCarriable(parent)) {
      throw new TypeError('The parent that telemetry gave is not up to 600 characters of ASCII.');
    }
  }, onError);
  return isCarriable(parent) ? { trace: parent } : {};
}

function isCarriable(parent: unknown): parent is string {
  return typeof parent === 'string' && carriable.test(parent);
}

function end({ hooks }: Observer, span: TurnSpan, facts: TracedEnd): void {
  quietly(() => span.end(facts), hooks.onError);
}

function endOf(turn: SagaTurn): TracedEnd {
  const over = { asked: [], tokenBytes: 0 };
  switch (turn.status) {
    case 'completed':
      return { status: 'completed', isFault: false, ...over };
    case 'failed': {
      const { error } = turn;
      return { status: 'failed', errorType: errorTypeOf(error), isFault: !isWanted(error), ...over };
    }
    case 'suspended': {
      const { steps, retryAfterMs, token } = turn;
      return {
        status: 'suspended',
        isFault: false,
        asked: steps.map(({ stepId, type }) => ({ stepId, type })),
        ...present({ retryAfterMs }),
        tokenBytes: token.length,
      };
    }
  }
}

const word = /^[A-Za-z][\w.-]{0,63}$/;

/** Returns the `code` or name of an error, and nothing of its message or of what a client sent. */
export function errorTypeOf(error: unknown): string {
  try {
    // It has the name and the code of what was thrown, which a client may have chosen. One of them is the engine's.
    if (error instanceof StepError) return error.code === 'timeout' ? 'timeout' : 'step_failed';
    const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
    for (const said of [code, name]) if (typeof said === 'string' && word.test(said)) return said;
  } catch {
    // An error may be anything, and so may its getters.
  }
  return '_OTHER';
}
