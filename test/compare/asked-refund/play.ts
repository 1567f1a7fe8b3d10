/**
 * One run of a contender: a client calls the tool as ada, gets a question and a token, and answers.
 * Then a fault, and what the client does about it.
 *
 * An instance of the server is killed after the bank has refunded: the bank never replies to it,
 * and the next request goes to a new instance, which has only what was kept. So each run is the
 * same on any machine.
 */
import { generateKey } from '@mcp-saga/server';
import { post, read } from '../../../packages/server/test/fixtures/raw.ts';
import type { Load, Order } from '../contender.ts';
import { Provider } from '../provider.ts';
import type { Contender, Served } from './contender.ts';

export const faults = {
  lostResponse: 'the response after the refund is lost, and the client repeats its request',
  kill: 'the process is killed after the refund, and the client repeats its request',
  decline: 'the user declines',
  otherUser: 'another user sends the token, and accepts',
  reuse: 'the user declines, and then sends the same token again, and accepts',
} as const;
export type Fault = keyof typeof faults;

/** What came of a run. */
export interface Outcome {
  /** Requests to refund that reached the bank. */
  readonly requests: number;
  /** Refunds that it made. */
  readonly refunds: number;
  /** `true` if the warehouse holds the parcel. */
  readonly held: boolean;
  /** Text or error of the last response. */
  readonly last: string;
}

const minute = 60_000;
const order: Order = { order: 'A-17', euros: 20 };

/** Plays a fault with a contender. */
export async function play(contender: Contender, fault: Fault, load: Load): Promise<Outcome> {
  const bank = new Provider();
  const held = new Set<string>();
  const warehouse = {
    hold: async (one: string) => void held.add(one),
    release: async (one: string) => void held.delete(one),
  };
  const kept = new Map<string, unknown>([
    ['SAGA_KEYS', generateKey()],
    ['time', 0],
  ]);
  const open = async (): Promise<Served & { readonly kill: () => void }> => {
    let kill = (): void => undefined;
    const death = new Promise<void>((resolve) => {
      kill = resolve;
    });
    return { ...(await contender.open({ bank, warehouse, kept, death, load })), kill };
  };
  let server = await open();
  const call = async (user: string, params: object): Promise<Sent> => {
    const headers = { authorization: user, 'mcp-name': 'refund' };
    const request = post(
      'modern',
      'tools/call',
      { name: 'refund', arguments: order, ...params },
      1,
      {
        headers,
      },
    );
    const { last } = await read(await server.fetch(request));
    return { ...last.result, error: last.error?.message };
  };
  try {
    let asked = await call('ada', {});
    // A token without a question: the client comes back by itself.
    if (asked.requestState !== undefined && asked.inputRequests === undefined)
      asked = await call('ada', { requestState: asked.requestState });
    const { requestState, inputRequests } = asked;
    if (inputRequests === undefined) throw new Error(`The tool did not ask: ${textOf(asked)}`);
    const [question = ''] = Object.keys(inputRequests);
    const answer = async (user: string, action: 'accept' | 'decline'): Promise<Sent> => {
      const response = action === 'accept' ? { action, content: {} } : { action };
      return await call(user, { requestState, inputResponses: { [question]: response } });
    };
    let last: Sent;
    if (fault === 'kill') {
      const refunded = new Promise<void>((resolve) => {
        bank.onRefund = () => {
          resolve();
          return new Promise(() => undefined);
        };
      });
      // The client gets no response to this request.
      void answer('ada', 'accept');
      await refunded;
      bank.onRefund = async () => undefined;
      server.kill();
      // By then, nobody waits for the dead instance.
      kept.set('time', minute);
      server = await open();
      last = await answer('ada', 'accept');
    } else if (fault === 'lostResponse') {
      await answer('ada', 'accept');
      last = await answer('ada', 'accept');
    } else if (fault === 'otherUser') last = await answer('bob', 'accept');
    else {
      last = await answer('ada', 'decline');
      if (fault === 'reuse') last = await answer('ada', 'accept');
    }
    const { requests, refunds } = bank;
    return { requests, refunds, held: held.has(order.order), last: textOf(last) };
  } finally {
    await server.close?.();
  }
}

interface Sent {
  readonly requestState?: string;
  readonly inputRequests?: object;
  readonly content?: readonly { readonly text?: string }[];
  readonly error?: string | undefined;
}

const textOf = ({ content, error }: Sent): string => error ?? content?.[0]?.text ?? '';
