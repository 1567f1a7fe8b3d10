import { randomBytes } from 'node:crypto';
import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  type SagaHost,
  type SagaStore,
  type SagaTurn,
} from '@mcp-saga/server';
import * as z from 'zod';
import { refundHost, suspend } from '../load/refund.ts';
import type { Row } from '../row.ts';

const turns = 60;
const answerBytes = 600;

/** Bytes that a store keeps for one saga: the heads and the bodies of its entries. */
export const storeBytes: Row = async () => {
  const short = countedStore();
  await suspend(refundHost(short.store), 'order-1');
  const long = countedStore();
  const token = await answerEach(interviewHost(long.store));
  return [
    { figure: 'store-bytes-suspended', ours: await short.bytes(), peers: [] },
    {
      figure: 'store-bytes-live',
      ours: await long.bytes(),
      peers: [{ name: '2 tokens, and 250 bytes a turn', value: 2 * token.length + 250 * turns }],
    },
  ];
};

/** A store that tells what it keeps. Like a database, it gets sealed values. */
function countedStore(): { readonly store: SagaStore; readonly bytes: () => Promise<number> } {
  const memory = memoryStore();
  const keys = new Map<string, Parameters<SagaStore['read']>[0]>();
  const store: SagaStore = {
    ...memory,
    write: (key, ...given) => {
      keys.set(`${key.group} ${key.name}`, key);
      return memory.write(key, ...given);
    },
  };
  const bytes = async (): Promise<number> => {
    let sum = 0;
    for (const key of keys.values()) {
      const { head = '', body = '' } = (await memory.read(key)) ?? {};
      sum += head.length + body.length;
    }
    return sum;
  };
  return { store, bytes };
}

function interviewHost(store: SagaStore): SagaHost {
  const interview = saga({ name: 'interview', version: '1' }, function* () {
    for (;;)
      yield* elicit('next', { message: 'And now?', schema: z.object({ answer: z.string() }) });
  });
  return createSagaHost({
    sagas: [interview],
    keys: generateKey(),
    name: 'bench',
    store,
    hooks: { onWarning: () => {} },
    testing: { environment: 'production' },
  });
}

/** Answers all questions but the last one, and returns the newest token. */
async function answerEach(host: SagaHost): Promise<string> {
  let turn: SagaTurn = await host.start('interview', {});
  for (let count = 1; count <= turns; count += 1) {
    const { token, stepId } = askedIn(turn);
    // Text that no compression shortens.
    const answer = randomBytes(answerBytes).toString('base64url').slice(0, answerBytes);
    const result = { action: 'accept', content: { answer } };
    turn = await host.resume(token, [{ stepId, result }]);
  }
  return askedIn(turn).token;
}

function askedIn(turn: SagaTurn): { readonly token: string; readonly stepId: string } {
  if (turn.status !== 'suspended') throw new Error(`The turn ${turn.status}`, { cause: turn });
  return { token: turn.token, stepId: turn.steps[0]?.stepId ?? '' };
}
