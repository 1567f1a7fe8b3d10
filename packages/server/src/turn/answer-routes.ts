import type { ClientNeed, Program, Provenance } from '@mcp-saga/core';
import type { Question, Route } from '@mcp-saga/core/program';
import { asksOf } from '../wire/step-requests.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectTraits } from '../model/dialect-traits.ts';
import { NeedsMissing } from '../wire/errors.ts';
import type { Answers, HostParts } from '../settings/host-parts.ts';

type Rung = 'client' | 'model' | 'fallback' | 'host';

/** What is known of who may be asked in a turn. */
export interface Asking {
  readonly host: Pick<HostParts, 'answers' | 'observer' | 'registry'>;
  readonly program: Partial<Pick<Program, 'modelAnswers' | 'name'>>;
  readonly caller: Pick<Caller, 'capabilities'>;
  readonly traits: DialectTraits;
}

/** Who answers a question in this turn. */
export function routeOf(asking: Asking, question: Question): Route {
  const route = firstOf(asking, question);
  if (route === 'cannot') advise(asking, question);
  return route;
}

function firstOf(asking: Asking, question: Question): Route {
  for (const rung of rungsOf(asking.host.answers, question.need)) {
    if (reaches(asking, rung, question)) return rung === 'client' || rung === 'model' ? 'ask' : rung;
  }
  return 'cannot';
}

/** Whether an answer that came from there counts for a question. (T14) */
export function isAccepted(asking: Asking, provenance: Provenance, question: Question): boolean {
  if (provenance !== 'model') return true;
  // A question for the user is the client's, if it can ask.
  const isClients = asking.traits.asks?.includes(question.need) === true;
  return !isClients && acceptsModel(asking, question.accept);
}

/** Throws NeedsMissing before the saga runs, unless all that it declares it needs is available. */
export function assertNeeds(asking: Asking, program: Pick<Program, 'name' | 'needs'>): void {
  const missing = program.needs.filter(
    (need) => routeOf(asking, { need, accept: undefined, hasFallback: false }) === 'cannot',
  );
  if (missing.length > 0) throw new NeedsMissing(program.name, missing, asking.traits.unasked);
}

/** Whether the client may be asked for something at all. */
export function mayAskClient(host: Pick<HostParts, 'answers'>, need: ClientNeed): boolean {
  return rungsOf(host.answers, need).includes('client');
}

function rungsOf({ order }: Pick<Answers, 'order'>, need: ClientNeed): readonly Rung[] {
  if (need === 'sampling') return order.sampling;
  return need === 'roots' ? ['client'] : order.elicitation;
}

function reaches(asking: Asking, rung: Rung, question: Question): boolean {
  const { traits, caller, host } = asking;
  switch (rung) {
    case 'client': {
      if (question.isUnsupported === true) return false;
      // Unknown is not lacking.
      const asks =
        traits.asks ?? (caller.capabilities === undefined ? undefined : asksOf(caller.capabilities));
      return asks === undefined || asks.includes(question.need);
    }
    case 'model':
      if (question.isUnsupported === true) return false;
      return traits.asksModel === true && acceptsModel(asking, question.accept);
    case 'fallback':
      return question.hasFallback;
    case 'host':
      return host.answers.sampling !== undefined;
  }
}

/** `true` if the model that calls the tool may answer. `accept` is that of the question. Default: of the saga or host. */
export function acceptsModel(
  { host, program }: Pick<Asking, 'host' | 'program'>,
  accept?: Question['accept'],
): boolean {
  if (accept !== undefined) return accept === 'model';
  return (program.modelAnswers ?? host.answers.model) === 'accept';
}

const advised = new WeakMap<HostParts['registry'], Set<string>>();

/** Said once of each saga and need: its author knows what stands in, and the client is only told that nobody does. */
function advise({ host, program, traits }: Asking, { need, isUnsupported }: Question): void {
  const said = advised.get(host.registry) ?? new Set();
  advised.set(host.registry, said);
  const { unasked } = traits;
  const about = `${program.name}: ${need}${unasked ?? ''}`;
  if (!host.observer.advises || said.has(about)) return;
  said.add(about);
  const own = need === 'sampling' ? 'the host answers: { sampling }' : 'the question a `fallback`';
  host.observer.hooks.onWarning(
    (unasked === undefined
      ? `Saga '${program.name}' asks for ${need}, which a client does not ${isUnsupported === true ? 'support' : 'declare'}. Give `
      : `Saga '${program.name}' cannot ask for ${need}: ${unasked} Or give `) +
      `${own}, or the host answers: { model: 'accept' }, or catch ClientCannot at the step.`,
  );
}
