import {
  approval,
  memoryStore,
  saga,
  waitFor,
  type Approval,
  type SagaStore,
  type Principal,
  type Program,
  type SagaCaller,
  type SuspendedTurn,
} from '@mcp-saga/server';
import type { Delivery } from '@mcp-saga/server/stores';
import type { ApprovalOptions, Registration } from '@mcp-saga/core';
import { z } from 'zod';
import { testClock, type TestClock } from '../fixtures/clock.ts';
import { completed, hostOf, suspended, type TestHost } from '../fixtures/host.ts';
import type { HostChanges } from '../fixtures/host-changes.ts';

export const hour = 3_600_000;
export const day = 24 * hour;
export const base = 'https://shop.example';

export const Comment = z.object({ comment: z.string().min(3).optional() });
export const Paid = z.object({ status: z.literal('paid'), amount: z.number() });

type Options = Partial<ApprovalOptions<typeof Comment>>;
type Event = ({ readonly verify: string } | { readonly link: 'accept' }) & {
  readonly schema?: typeof Paid;
};

/** Headers of a form of the page, as Chromium sends them. */
const ownForm = { origin: 'null', 'sec-fetch-site': 'same-origin' };

/** A link that was delivered. */
export interface Sent {
  readonly url: string;
  readonly to: unknown;
  readonly isReminder: boolean;
  readonly key: string;
}

/** A store that has no room for tickets, so that each link holds its own. */
export function withoutTickets(store: SagaStore): SagaStore {
  return {
    ...store,
    write: (key, ...given) =>
      key.name === 'ticket' ? { status: 'full', nowMs: Date.now() } : store.write(key, ...given),
  };
}

/** A user, as the page knows them. */
export function user(subject: string, issuer?: string): SagaCaller {
  const principal: Principal = {
    subject,
    client: 'browser',
    ...(issuer === undefined ? {} : { issuer }),
  };
  return { principal };
}

export const caller: SagaCaller = { principal: { subject: 'caller', client: 'mcp' } };

/** A host with an approval and an event, its store of answers, and everything that was delivered. */
export class OutsideCase {
  readonly clock: TestClock;
  readonly store: SagaStore;
  readonly sent: Sent[] = [];
  readonly test: TestHost;

  constructor(
    options: Options = {},
    changes: Omit<HostChanges, 'store'> & {
      readonly clock?: TestClock;
      /** Store of links and answers. */
      readonly store?: SagaStore;
    } = {},
    event: Event = { link: 'accept' },
  ) {
    const { store, clock = testClock(), ...rest } = changes;
    this.clock = clock;
    this.store = store ?? memoryStore({ clock });
    this.test = hostOf([this.refund(options), this.payment(event)], {
      clock,
      store: this.store,
      url: base,
      limits: { maxHold: 0 },
      ...rest,
    });
  }

  refund(options: Options = {}): Program {
    const deliver = ({ url, to, isReminder, idempotencyKey: key }: Delivery): void =>
      void this.sent.push({ url, to, isReminder, key });
    return saga({ name: 'refund', version: '1', reuse: 'ok' }, function* () {
      const decision = yield* approval('manager', {
        message: 'Refund 10 €?',
        schema: Comment,
        timeout: day,
        deliver,
        ...options,
      });
      return JSON.stringify(decision);
    });
  }

  payment(event: Event): Program {
    const register = ({ url, idempotencyKey: key }: Registration): void =>
      void this.sent.push({ url, to: undefined, isReminder: false, key });
    return saga({ name: 'payment', version: '1' }, function* () {
      const paid = yield* waitFor('payment', {
        schema: Paid,
        register,
        timeout: day,
        ...event,
      });
      return `paid ${paid.amount}`;
    });
  }

  async start(name: 'refund' | 'payment' = 'refund'): Promise<SuspendedTurn> {
    return suspended(await this.test.host.start(name, {}, { caller }));
  }

  resume({ token }: SuspendedTurn): ReturnType<TestHost['host']['resume']> {
    return this.test.host.resume(token, [], { caller });
  }

  async decision(turn: SuspendedTurn): Promise<Approval<z.infer<typeof Comment>>> {
    const { result } = completed(await this.resume(turn)) as {
      result: { content: { text: string }[] };
    };
    return JSON.parse(textOf(result)) as Approval<z.infer<typeof Comment>>;
  }

  url(index = 0): string {
    return this.sent[index]?.url ?? '';
  }

  get(by?: SagaCaller, url: string = this.url(), method = 'GET'): Promise<Response> {
    return this.test.host.answer(
      new Request(url, { method }),
      by === undefined ? {} : { caller: by },
    );
  }

  /** Sends the form of the page, as a browser does. */
  post(
    by?: SagaCaller,
    fields: Readonly<Record<string, string>> = { decision: 'approve' },
    {
      url = this.url(),
      headers = ownForm,
    }: { readonly url?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Response> {
    const request = new Request(url, {
      method: 'POST',
      headers,
      body: new URLSearchParams(fields),
    });
    return this.test.host.answer(request, by === undefined ? {} : { caller: by });
  }

  event(
    body: unknown,
    {
      url = this.url(),
      headers = {},
    }: { readonly url?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return this.test.host.answer(new Request(url, { method: 'POST', headers, body: text }));
  }
}

export function textOf(result: unknown): string {
  const { content } = Object(result) as { content?: readonly { readonly text?: string }[] };
  return typeof result === 'string' ? result : (content?.[0]?.text ?? '');
}
