import { createKeyRing, createSealer, generateKey } from '@mcp-saga/seal';
import { createSagaHost, elicit, sample, saga, type Json, type SagaTurn, type Steps } from '@mcp-saga/server';
import { z } from 'zod';
import forms from '../corpora/forms.json' with { type: 'json' };
import answers from '../corpora/sampling.json' with { type: 'json' };
import interview from '../corpora/text.json' with { type: 'json' };
import type { Finding, Row } from '../row.ts';

/** Bytes that a client sends back over a hundred turns, beside those of the same tokens without compression. */
export const tokenBytes: Row = async () => [
  ...(await Promise.all(eachCorpus())),
  { figure: 'token-bytes-empty', ours: await emptyBytes(), peers: [] },
];

/** Bytes of the first token of a saga that only asks. */
async function emptyBytes(): Promise<number> {
  const program = saga({ name: 'bench', version: '1' }, function* () {
    yield* elicit('last', { message: 'And now?', schema: Reply });
    return 'done';
  });
  const host = createSagaHost({ sagas: [program], keys: generateKey(), audience: 'bench' });
  return tokenOf(await host.start('bench', {})).length;
}

const eachCorpus = (): readonly Promise<Finding>[] => [
  sumOf('token-bytes-text', interview.map(toReply), function* () {
    for (const { question } of interview) yield* elicit('answer', { message: question, schema: Reply });
  }),
  sumOf('token-bytes-forms', forms.map(accept), function* () {
    for (const _ of forms) yield* elicit('order', { message: 'The next order, please:', schema: Order });
  }),
  sumOf('token-bytes-sampling', answers.map(toMessage), function* () {
    for (const index of answers.keys()) {
      const text = `Revise the draft, request ${index + 1}.`;
      const messages = [{ role: 'user', content: { type: 'text', text } }] as const;
      yield* sample('draft', { messages, maxTokens: 400 });
    }
  }),
];

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
  return { role: 'assistant', content: { type: 'text', text }, model: 'assistant-2', stopReason: 'endTurn' };
}

async function sumOf(
  figure: Finding['figure'],
  results: readonly Json[],
  ask: () => Steps<void>,
): Promise<Finding> {
  const keys = generateKey();
  const audience = 'bench';
  const program = saga({ name: 'bench', version: '1' }, function* () {
    yield* ask();
    yield* elicit('last', { message: 'And now?', schema: Reply });
    return 'done';
  });
  const host = createSagaHost({
    sagas: [program],
    keys,
    audience,
    testing: { environment: 'production' },
    hooks: { onWarning: () => {} },
  });
  const limits = { maxTokenBytes: 1024 * 1024 };
  const plain = createSealer({ ring: createKeyRing(keys), audience, limits });
  let compressed = 0;
  let uncompressed = 0;
  let turn: SagaTurn = await host.start('bench', {});
  for (const result of results) {
    // oxlint-disable-next-line no-await-in-loop -- turn after turn
    turn = await host.resume(tokenOf(turn), [{ stepId: stepOf(turn), result }]);
    const token = tokenOf(turn);
    compressed += token.length;
    // oxlint-disable-next-line no-await-in-loop -- turn after turn
    const { sid, claims, streams } = await plain.open(token, { purpose: 'token' });
    const stored = streams.map((bytes) => ({ bytes, compress: false }));
    // oxlint-disable-next-line no-await-in-loop -- turn after turn
    uncompressed += (await plain.seal('token', sid, claims, stored)).length;
  }
  if (stepOf(turn) !== 'last') throw new Error('An answer of the corpus was not accepted');
  return { figure, ours: compressed, peers: [{ name: 'uncompressed', value: uncompressed }] };
}

function tokenOf(turn: SagaTurn): string {
  if (turn.status !== 'suspended') throw new Error(`The turn ${turn.status}`, { cause: turn });
  return turn.token;
}

function stepOf(turn: SagaTurn): string {
  return (turn.status === 'suspended' && turn.steps[0]?.stepId) || '';
}
