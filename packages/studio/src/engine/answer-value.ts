import type { ClientStep } from '@mcp-saga/server';
import type { Rule } from '@mcp-saga/testing';
import type { Given } from '../model/session.ts';
import { toQuestionView } from './to-view.ts';

/** Completes an answer without a value: the initial content of the form, or the simplest answer of a model. */
export function withValue(given: Given, step: ClientStep, rules: readonly Rule[]): Given {
  if (given.action !== 'accept') return given;
  if (step.type === 'roots') return { ...given, content: [{ uri: 'file:///project' }] };
  if (given.content !== undefined) return given;
  return { ...given, content: step.type === 'sampling' ? 'Yes' : toQuestionView(step, rules).content };
}

/** Returns an answer as the kit takes it. */
export function answerValue({ action, content }: Given): unknown {
  return action === 'accept' ? content : action;
}
