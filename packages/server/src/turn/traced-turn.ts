import { present, withoutKeys } from '@mcp-saga/core/program';
import { optionError } from '@mcp-saga/core/shared';
import { AnswerConflict, TurnAborted, StepError } from '@mcp-saga/core';
import { isWanted } from '../settings/default-log.ts';
import { quietly } from '../settings/observer-hooks.ts';
import type { Observer } from '../settings/host-parts.ts';
import type { TurnRequest } from './turn-request.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { SagaTelemetry, TracedEnd, TracedTurn, TurnSpan } from '../model/telemetry.ts';
import type { SagaTurn } from '../model/turn.ts';

type Hooks = Observer['hooks'];

/**
 * Allowed trace context in a token: printable, at most as long as `traceparent` and `tracestate`.
 */
const carriable = /^[\x20-\x7e]{1,600}$/;

/** Trace of a turn. */
export class TurnTrace {
  readonly #telemetry: SagaTelemetry;
  readonly #hooks: Hooks;
  readonly #request: Pick<TurnRequest, 'caller' | 'intent'>;
  /** Undefined if the telemetry threw. */
  span: TurnSpan | undefined;

  constructor(
    telemetry: SagaTelemetry,
    hooks: Hooks,
    request: Pick<TurnRequest, 'caller' | 'intent'>,
  ) {
    this.#telemetry = telemetry;
    this.#hooks = hooks;
    this.#request = request;
  }

  /** Begins the span of a turn, and returns the saga with the trace context for its token. */
  begin(saga: SealedSaga): SealedSaga {
    const { caller, intent } = this.#request;
    const action = intent.kind === 'end' ? 'cancel' : saga.claims.turn === 0 ? 'start' : 'resume';
    this.span = begin(this.#telemetry, this.#hooks, saga, { action, client: caller.traceContext });
    if (this.span === undefined) return saga;
    return { ...saga, state: { ...saga.state, ...carriedBy(this.span, this.#hooks.onError) } };
  }

  /** Runs the work of a turn within its span. */
  async within<T>(work: () => Promise<T>): Promise<T> {
    return this.span === undefined
      ? await work()
      : await within(this.span, this.#hooks.onError, work);
  }

  /** Ends the span of a turn. */
  end(turn: SagaTurn): void {
    if (this.span !== undefined) end(this.#hooks, this.span, endOf(turn));
  }

  /** Ends the span of a turn that has thrown. */
  fail(error: unknown): void {
    if (this.span === undefined) return;
    const isFault = !(error instanceof TurnAborted) && !(error instanceof AnswerConflict);
    const errorType = errorTypeOf(error);
    end(this.#hooks, this.span, {
      status: 'rejected',
      errorType,
      isFault,
      asked: [],
      tokenBytes: 0,
    });
  }
}

/** Traces a request with a repeated response. */
export function tracedAgain(
  { telemetry, hooks }: Observer,
  saga: SealedSaga,
  turn: SagaTurn,
): void {
  const span = telemetry && begin(telemetry, hooks, saga, { action: 'repeat', client: undefined });
  if (span !== undefined) end(hooks, span, endOf(turn));
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
  telemetry: SagaTelemetry,
  hooks: Hooks,
  { sagaId, claims, state }: SealedSaga,
  request: Pick<TracedTurn, 'action' | 'client'>,
): TurnSpan | undefined {
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
      throw optionError('The parent of the telemetry must be 1 to 600 printable ASCII characters.');
    }
  }, onError);
  return isCarriable(parent) ? { trace: parent } : {};
}

function isCarriable(parent: unknown): parent is string {
  return typeof parent === 'string' && carriable.test(parent);
}

function end(hooks: Hooks, span: TurnSpan, facts: TracedEnd): void {
  quietly(() => span.end(facts), hooks.onError);
}

function endOf(turn: SagaTurn): TracedEnd {
  const over = { asked: [], tokenBytes: 0 };
  switch (turn.status) {
    case 'completed':
      return { status: 'completed', isFault: false, ...over };
    case 'failed': {
      const { status, error } = turn;
      const uncompensated = turn.uncompensated.map(({ stepId }) => withoutKeys(stepId));
      return {
        status,
        errorType: errorTypeOf(error),
        isFault: !isWanted(error),
        uncompensated,
        ...over,
      };
    }
    case 'suspended': {
      const { status, steps, retryAfterMs, token, expiresAt } = turn;
      const asked = steps.map(({ stepId, type }) => ({ stepId, type }));
      const tokenBytes = token.length;
      return { status, isFault: false, asked, ...present({ retryAfterMs }), tokenBytes, expiresAt };
    }
  }
}

const word = /^[A-Za-z][\w.-]{0,63}$/;

/** Returns the `code` or name of an error, without its message or values of a client. */
export function errorTypeOf(error: unknown): string {
  try {
    // A client may have chosen name and code of the original error. Only `timeout` is a code of the
    // engine.
    if (error instanceof StepError) return error.code === 'timeout' ? 'timeout' : 'step_failed';
    const { code, name } = Object(error) as { readonly code?: unknown; readonly name?: unknown };
    for (const said of [code, name]) if (typeof said === 'string' && word.test(said)) return said;
  } catch {
    // A getter of the error threw.
  }
  return '_OTHER';
}
