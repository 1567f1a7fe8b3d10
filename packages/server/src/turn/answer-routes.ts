import type { ClientNeed, Program, Provenance } from '@mcp-saga/core';
import type { Question, Route } from '@mcp-saga/core/program';
import { asksOf } from '../wire/step-requests.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import { NeedsMissing } from '../wire/errors.ts';
import type { Answers, HostParts } from '../settings/host-parts.ts';

type Answerer = 'client' | 'model' | 'fallback' | 'host';

/** Facts that decide the route of a question. */
export interface Asking {
  readonly host: Pick<HostParts, 'answers' | 'observer' | 'registry'>;
  readonly program: Partial<Pick<Program, 'modelAnswers' | 'name'>>;
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
  for (const answerer of answerersOf(asking.host.answers, question.need)) {
    if (reaches(asking, answerer, question))
      return answerer === 'client' || answerer === 'model' ? 'ask' : answerer;
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
  const missing = program.needs.filter(
    (need) => routeOf(asking, { need, accept: undefined, hasFallback: false }) === 'cannot',
  );
  if (missing.length > 0) throw new NeedsMissing(program.name, missing, asking.dialect.unasked);
}

/** Lists who may answer questions of a kind, by the options of the host. */
export function answerersOf(
  { order }: Pick<Answers, 'order'>,
  need: ClientNeed,
): readonly Answerer[] {
  if (need === 'sampling' || need === 'sampling.tools') return order.sampling;
  return need === 'roots' ? ['client'] : order.elicitation;
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
      return question.hasFallback;
    case 'host':
      return host.answers.sampling !== undefined;
  }
}

/** The calling model answers in words, and cannot call the tools that a saga offers. */
function mayModelAnswer(asking: Asking, { need, accept }: Question): boolean {
  return need !== 'sampling.tools' && acceptsModel(asking, accept);
}

/**
 * `true` if the calling model may answer. `accept` is the option of the question. Default: the
 * option of the saga or host.
 */
export function acceptsModel(
  { host, program }: Pick<Asking, 'host' | 'program'>,
  accept?: Question['accept'],
): boolean {
  if (accept !== undefined) return accept === 'model';
  return (program.modelAnswers ?? host.answers.model) === 'accept';
}

/** Warns the author once for each saga and need. */
function advise({ host, program, dialect }: Asking, { need, isUnsupported }: Question): void {
  const { unasked } = dialect;
  const about = `${program.name}: ${need}${unasked ?? ''}`;
  if (!host.observer.advises || !host.registry.isNew(about)) return;
  const own = need.startsWith('sampling')
    ? 'the host answers: { sampling }'
    : 'the question a `fallback`';
  const model = need === 'sampling.tools' ? '' : `or the host answers: { model: 'accept' }, `;
  host.observer.hooks.onWarning(
    (unasked === undefined
      ? `Saga '${program.name}' asks for ${need}, which a client does not ${isUnsupported === true ? 'support' : 'declare'}. Give `
      : `Saga '${program.name}' cannot ask for ${need}: ${unasked} Or give `) +
      `${own}, ${model}or catch ClientCannot at the step.`,
  );
}
