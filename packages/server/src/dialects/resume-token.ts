import type { DialectTraits } from '../host/dialect-traits.ts';
import { SagaHostError } from '../host/errors.ts';
import type { SagaHostCore } from '../host/host.ts';
import { acceptsModel } from '../host/ladder.ts';
import type { SagaTurn } from '../host/turn.ts';
import { WireError } from '../mcp/wire-error.ts';
import { unaskedOf, type ClientCall, type ClientFacts, type Dialect } from './dialect.ts';
import { toInterimResult } from './interim-result.ts';
import { toModelAnswers } from './model-answers.ts';
import { toResumable } from './resumable-tool.ts';

// A method of its own: a token that another dialect handed out does not open here, nor one of these elsewhere.
export const resumeTokenMethod = 'tools/call#resumeToken';

/** Nobody can be asked in the request; the model that calls can be asked in its result, and comes again when it likes. */
export const resumeTokenTraits: DialectTraits = {
  asks: [],
  asksModel: true,
  // Models often call again at once.
  holdsParts: true,
};

/**
 * Resume tokens, for clients that declare nothing and for those that cannot be reached: a call that is not finished is
 * an ordinary result, which tells the model to call again, with `resumeToken` and perhaps `answers` beside the same
 * arguments.
 */
export const resumeToken: Dialect = {
  name: 'resume token',
  refused: { message: 'Invalid or expired resumeToken', reason: 'invalid_resume_token' },
  carries: (call) => call.method === 'tools/call' && fieldsOf(call).length > 0,
  serves: () => true,
  list: (tool, saga, { settings }) => toResumable(tool, acceptsModel({ settings, program: saga })),
  answer: async (host, call) => {
    return await toTokenResult(host, call, await taken(host, call));
  },
};

/** Encodes a turn for the wire. */
export async function toTokenResult(
  { settings }: SagaHostCore,
  call: ClientCall,
  turn: SagaTurn,
): Promise<object> {
  return turn.status === 'suspended' ? await toInterimResult(settings, turn) : call.toResult(turn);
}

async function taken(host: SagaHostCore, call: ClientCall): Promise<SagaTurn> {
  const { saga, args, caller, client } = call;
  const [field] = fieldsOf(call);
  if (field !== undefined && isAskedItself(client)) {
    throw invalid(`${field}: this client declared elicitation, so its user is asked, and not the model`);
  }
  const token = tokenOf(call);
  const traits = { ...resumeTokenTraits, ...unaskedOf(client) };
  const { answers } = argumentsOf(call);
  if (token === undefined) {
    if (answers !== undefined) throw invalid('arguments.answers: expected arguments.resumeToken beside it');
    return await host.start(saga.name, args, caller, {
      method: resumeTokenMethod,
      traits,
    });
  }
  // What is answered there would be lost in silence, and the question come again and again.
  if (call.meta['answers'] !== undefined)
    throw invalid('_meta.answers: answers are taken in arguments.answers only');
  return await host.resume(token, toModelAnswers(answers, 'arguments.answers'), caller, {
    methods: [resumeTokenMethod],
    entry: { target: saga.name, args },
    answersField: 'arguments.answers',
    provenance: 'model',
    traits,
  });
}

/** The token that a call brings along, as an argument or in `_meta`. */
function tokenOf(call: ClientCall): string | undefined {
  const sent = [argumentsOf(call).resumeToken, call.meta['resumeToken']].filter(
    (token) => token !== undefined,
  );
  const [token, other = token] = sent;
  if (token === undefined) return undefined;
  if (typeof token !== 'string') throw refusedToken();
  if (other !== token)
    throw invalid('arguments.resumeToken: it is not the one in _meta.resumeToken. Send one of them');
  return token;
}

/** The names of what a call brings along that only this dialect knows. */
function fieldsOf(call: ClientCall): readonly string[] {
  const { resumeToken: token, answers } = argumentsOf(call);
  return [
    ...(token === undefined ? [] : ['arguments.resumeToken']),
    ...(answers === undefined ? [] : ['arguments.answers']),
    ...(call.meta['resumeToken'] === undefined ? [] : ['_meta.resumeToken']),
  ];
}

function argumentsOf({ args }: ClientCall): { readonly resumeToken?: unknown; readonly answers?: unknown } {
  return Object(args) as { readonly resumeToken?: unknown; readonly answers?: unknown };
}

/** Whether the user is asked by the client, where a person may be: what a model says in the user's stead is refused. (T14) */
function isAskedItself({ asks, era, isSession }: ClientFacts): boolean {
  const reachable = era === 'modern' || isSession;
  return reachable && (asks.includes('elicitation') || asks.includes('elicitation.url'));
}

function refusedToken(): WireError {
  return new WireError(-32602, resumeToken.refused.message, { reason: resumeToken.refused.reason });
}

function invalid(message: string): SagaHostError {
  return new SagaHostError('invalid_params', `Invalid params: ${message}`);
}
