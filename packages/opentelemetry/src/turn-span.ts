import { context, trace, type Context, type Span, type Tracer } from '@opentelemetry/api';
import type { StepSpan, TracedStep, TurnSpan } from '@mcp-saga/server/internal';
import {
  endAttributes,
  eventAttributes,
  fault,
  stepAttributes,
  stepName,
  suspendedAttributes,
} from './attributes.ts';

/** Records events of a turn on its span, and steps as child spans. */
export function spanOfTurn(
  tracer: Tracer,
  span: Span,
  current: Context,
  parent: string | undefined,
): TurnSpan {
  const open = new Set<Span>();
  return {
    parent,
    within: (work) => context.with(current, work),
    event: (event) => void span.addEvent(`saga.step.${event.type}`, eventAttributes(event)),
    step: (step) => beginStep(tracer, current, step, open),
    end: (end) => {
      if (end.status === 'suspended') span.addEvent('saga.suspended', suspendedAttributes(end));
      span.setAttributes(endAttributes(end));
      if (end.isFault) span.setStatus(fault);
      for (const left of open) left.end();
      span.end();
    },
  };
}

function beginStep(tracer: Tracer, turn: Context, step: TracedStep, open: Set<Span>): StepSpan {
  // An explicit parent, since no span is active without a context manager.
  const span = tracer.startSpan(stepName(step), { attributes: stepAttributes(step) }, turn);
  const current = trace.setSpan(turn, span);
  open.add(span);
  return {
    within: (work) => context.with(current, work),
    end: (errorType) => {
      open.delete(span);
      if (errorType !== undefined) span.setAttribute('error.type', errorType).setStatus(fault);
      span.end();
    },
  };
}
