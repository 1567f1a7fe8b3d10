import type { Answerer, Program, Provenance } from '@mcp-saga/core';
import type { Question, Route } from '@mcp-saga/core/program';
import { asksOf } from '../wire/step-requests.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import { NeedsMissing } from '../wire/errors.ts';
import type { HostParts } from '../settings/host-parts.ts';

/** Facts that decide the route of a question. */
export interface Asking {
  readonly host: Pick<HostParts, 'answerers' | 'observer' | 'registry'>;
  readonly program: Partial<Pick<Program, 'answeredBy' | 'name'>>;
  readonly caller: Pick<Caller, 'capabilities'>;
  readonly dialect: DialectCapabilities;
}

/** Returns the route of a question in this turn. */
export function routeOf(asking: Asking, question: Question): Route {
  const route = firstOf(asking, question);
  if (route === 'cannot') advise(asking, question);
  return route;
}

function firstOf(asking: Asking, question: Question): Route {
  for (const answerer of answerersOf(asking, question)) {
    if (!reaches(asking, answerer, question)) continue;
    if (answerer !== 'fallback') return 'ask';
    return isSample(question) ? 'host' : 'fallback';
  }
  return 'cannot';
}

/** `true` if the saga accepts an answer of this provenance. */
export function isAccepted(asking: Asking, provenance: Provenance, question: Question): boolean {
  if (provenance !== 'model') return true;
  // A client that can ask the user must ask the user.
  const isClients = asking.dialect.asks?.includes(question.need) === true;
  return !isClients && mayModelAnswer(asking, question);
}

/** Throws NeedsMissing before the saga runs if a declared need is not available. */
export function assertNeeds(asking: Asking, program: Pick<Program, 'name' | 'needs'>): void {
  // Without advice: the author has declared that no other way will do.
  const missing = program.needs.filter(
    (need) => firstOf(asking, { need, answeredBy: anyOf(asking), hasFallback: false }) === 'cannot',
  );
  if (missing.length > 0) throw new NeedsMissing(program.name, missing, asking.dialect.unasked);
}

/** Who may answer some question of a saga: a question may name the client where its saga does not. */
function anyOf({ program: { answeredBy = byDefault } }: Pick<Asking, 'program'>): Answerer[] {
  return [...new Set<Answerer>(['client', ...answeredBy])];
}

const byDefault: readonly Answerer[] = ['client', 'fallback'];

/** Lists who may answer a question, in this order. */
function answerersOf(
  { program }: Pick<Asking, 'program'>,
  { need, answeredBy }: Pick<Question, 'need' | 'answeredBy'>,
): readonly Answerer[] {
  return need === 'roots' ? ['client'] : (answeredBy ?? program.answeredBy ?? byDefault);
}

/** `true` for a question to a model. The fallback of such a question is the model of the host. */
function isSample({ need }: Pick<Question, 'need'>): boolean {
  return need === 'sampling' || need === 'sampling.tools';
}

function reaches(asking: Asking, answerer: Answerer, question: Question): boolean {
  const { dialect, caller, host } = asking;
  switch (answerer) {
    case 'client': {
      if (question.isUnsupported === true) return false;
      // Unknown is not lacking.
      const asks =
        dialect.asks ??
        (caller.capabilities === undefined ? undefined : asksOf(caller.capabilities));
      return asks === undefined || asks.includes(question.need);
    }
    case 'model':
      // A dialect that asks the client in each turn would never reach the model.
      if (question.isUnsupported === true && dialect.asks?.includes(question.need) !== false)
        return false;
      return dialect.asksModel === true && mayModelAnswer(asking, question);
    case 'fallback':
      return isSample(question) ? host.answerers.sampling !== undefined : question.hasFallback;
  }
}

/** The calling model answers in words, and cannot call the tools that a saga offers. */
function mayModelAnswer(asking: Asking, question: Question): boolean {
  return (
    question.need !== 'sampling.tools' &&
    asking.host.answerers.model === 'accept' &&
    answerersOf(asking, question).includes('model')
  );
}

/** Warns the author once for each saga and need. */
function advise({ host, program, dialect }: Asking, { need, isUnsupported }: Question): void {
  const { unasked } = dialect;
  const about = `${program.name}: ${need}${unasked ?? ''}`;
  if (!host.observer.advises || !host.registry.isNew(about)) return;
  const own = need.startsWith('sampling')
    ? 'the host answerers: { sampling }'
    : 'the question a `fallback`';
  const model =
    need === 'sampling.tools'
      ? ''
      : `or the question answeredBy: ['client', 'model'] and the host answerers: { model: 'accept' }, `;
  host.observer.hooks.onWarning(
    (unasked === undefined
      ? `Saga '${program.name}' asks for ${need}, which a client does not ${isUnsupported === true ? 'support' : 'declare'}. Give `
      : `Saga '${program.name}' cannot ask for ${need}: ${unasked} Or give `) +
      `${own}, ${model}or catch ClientCannot at the step.`,
  );
}
