import type { SagaInfo } from '@mcp-saga/core';
import { createKeyRing, createSealer, generateKey, type KeyRing } from '@mcp-saga/seal';
import {
  createSagaHost,
  elicit,
  info,
  sample,
  saga,
  type Json,
  type SagaTurn,
  type Steps,
} from '@mcp-saga/server';
import { z } from 'zod';
import forms from '../corpora/forms.json' with { type: 'json' };
import answers from '../corpora/sampling.json' with { type: 'json' };
import interview from '../corpora/text.json' with { type: 'json' };
import type { Finding, Row } from '../row.ts';

/**
 * Bytes that a client sends back over 100 turns, relative to the same tokens without compression.
 */
export const tokenBytes: Row = async () => [
  ...(await Promise.all(eachCorpus())),
  { figure: 'token-bytes-empty', ours: (await emptyTokens()).tokens[0]?.length ?? 0, peers: [] },
  {
    figure: 'token-bytes-info',
    ours: await bytesOfRead((facts) => JSON.stringify(facts)),
    peers: [],
  },
  {
    figure: 'token-bytes-info-field',
    ours: await bytesOfRead(({ continueAsSuggested }) => String(continueAsSuggested)),
    peers: [],
  },
];

/**
 * Bytes by which a read of `info()` makes each later token longer, in a saga that reads it in every
 * turn. The first reads are left out, because they hold what hardly ever changes.
 *
 * @param use - reads the facts that the saga needs
 */
async function bytesOfRead(use: (facts: SagaInfo) => string): Promise<number> {
  const results = Array.from({ length: 100 }, () => toReply({ answer: 'Yes, please go on.' }));
  const growthOf = async (read: () => Steps<void>): Promise<number> => {
    const { tokens } = await tokensOf(results, function* () {
      for (const _ of results) {
        yield* read();
        yield* elicit('answer', { message: 'Shall I go on?', schema: Reply });
      }
    });
    const [first, last] = [tokens[20], tokens.at(-1)];
    return ((last?.length ?? 0) - (first?.length ?? 0)) / (tokens.length - 21);
  };
  const reading = await growthOf(function* () {
    use(yield* info());
  });
  return reading - (await growthOf(function* () {}));
}

const eachCorpus = (): readonly Promise<Finding>[] => [
  sumOf('token-bytes-text', interview.map(toReply), interviews),
  sumOf('token-bytes-forms', forms.map(accept), function* () {
    for (const _ of forms)
      yield* elicit('order', { message: 'The next order, please:', schema: Order });
  }),
  sumOf('token-bytes-sampling', answers.map(toMessage), function* () {
    for (const index of answers.keys()) {
      const text = `Revise the draft, request ${index + 1}.`;
      const messages = [{ role: 'user', content: { type: 'text', text } }] as const;
      yield* sample('draft', { messages, maxTokens: 400 });
    }
  }),
];

function* interviews(): Steps<void> {
  for (const { question } of interview)
    yield* elicit('answer', { message: question, schema: Reply });
}

const Reply = z.object({ answer: z.string() });
const Order = z.object({
  customer: z.string(),
  email: z.string(),
  product: z.string(),
  quantity: z.number(),
  address: z.string(),
  deliverOn: z.string(),
  payment: z.enum(['invoice', 'card', 'transfer']).optional(),
  note: z.string().optional(),
});

function accept(content: Json): Json {
  return { action: 'accept', content };
}

function toReply({ answer }: { readonly answer: string }): Json {
  return accept({ answer });
}

function toMessage(text: string): Json {
  return {
    role: 'assistant',
    content: { type: 'text', text },
    model: 'assistant-2',
    stopReason: 'endTurn',
  };
}

async function sumOf(
  figure: Finding['figure'],
  results: readonly Json[],
  ask: () => Steps<void>,
): Promise<Finding> {
  const { ring, tokens } = await tokensOf(results, ask);
  const plain = createSealer({ ring, audience, limits: { maxTokenBytes: 1024 * 1024 } });
  let uncompressed = 0;
  for (const token of tokens) {
    const { sid, claims, streams } = await plain.open(token, { purpose: 'token' });
    const stored = streams.map((bytes) => ({ bytes, compress: false }));
    uncompressed += (await plain.seal('token', sid, claims, stored)).length;
  }
  const compressed = tokens.reduce((sum, { length }) => sum + length, 0);
  return { figure, ours: compressed, peers: [{ name: 'uncompressed', value: uncompressed }] };
}

/** Audience of the measured tokens. */
export const audience = 'bench';

/** Tokens of a saga, one for each answer, and their key. */
export interface MeasuredTokens {
  readonly key: string;
  readonly ring: KeyRing;
  readonly tokens: readonly string[];
}

/** Tokens of the interview corpus, whose answers are texts. */
export function textTokens(): Promise<MeasuredTokens> {
  return tokensOf(interview.map(toReply), interviews);
}

/** The token before the first answer. */
export function emptyTokens(): Promise<MeasuredTokens> {
  return tokensOf([], function* () {});
}

async function tokensOf(results: readonly Json[], ask: () => Steps<void>): Promise<MeasuredTokens> {
  const key = generateKey();
  const program = saga({ name: 'bench', version: '1' }, function* () {
    yield* ask();
    yield* elicit('last', { message: 'And now?', schema: Reply });
    return 'done';
  });
  const host = createSagaHost({
    sagas: [program],
    keys: key,
    name: audience,
    testing: { environment: 'production' },
    hooks: { onWarning: () => {} },
  });
  let turn: SagaTurn = await host.start('bench', {});
  const tokens = results.length === 0 ? [tokenOf(turn)] : [];
  for (const result of results) {
    turn = await host.resume(tokenOf(turn), [{ stepId: stepOf(turn), result }]);
    tokens.push(tokenOf(turn));
  }
  if (stepOf(turn) !== 'last') throw new Error('An answer of the corpus was not accepted');
  return { key, ring: createKeyRing(key), tokens };
}

function tokenOf(turn: SagaTurn): string {
  if (turn.status !== 'suspended') throw new Error(`The turn ${turn.status}`, { cause: turn });
  return turn.token;
}

function stepOf(turn: SagaTurn): string {
  return (turn.status === 'suspended' && turn.steps[0]?.stepId) || '';
}
