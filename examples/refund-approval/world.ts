/** A minimal bank and a mail server, which honor idempotency keys. */
import { serve } from 'srvx';

export interface Hold {
  readonly hold: string;
}

export interface Mail {
  readonly to: string;
  readonly text: string;
}

export interface World {
  readonly url: string;
  /** Sent mails, without repeated requests. */
  readonly mails: readonly Mail[];
  /** Amounts in cents that are on hold, by the name of the hold. */
  readonly holds: ReadonlyMap<string, number>;
  /** Paid amounts in cents, with one entry for each payment. */
  readonly payments: readonly number[];
  stop(): Promise<void>;
}

/** Serves both on a free port of 127.0.0.1. */
export async function startWorld(): Promise<World> {
  const mails: Mail[] = [];
  const holds = new Map<string, number>();
  const payments: number[] = [];
  const answers = new Map<string, object>();
  const act = (what: string, body: unknown): object => {
    const { cents = 0, hold = '', ...mail } = body as { cents?: number; hold?: string } & Mail;
    switch (what) {
      case '/hold': {
        const name = `hold-${answers.size + 1}`;
        holds.set(name, cents);
        return { hold: name };
      }
      case '/release':
        holds.delete(hold);
        return {};
      case '/pay':
        payments.push(holds.get(hold) ?? 0);
        holds.delete(hold);
        return {};
      default:
        mails.push(mail);
        return {};
    }
  };
  const server = serve({
    hostname: '127.0.0.1',
    port: 0,
    silent: true,
    fetch: async (request) => {
      const key = request.headers.get('idempotency-key') ?? crypto.randomUUID();
      const body: unknown = await request.json();
      const answer = answers.get(key) ?? act(new URL(request.url).pathname, body);
      answers.set(key, answer);
      return Response.json(answer);
    },
  });
  await server.ready();
  return { url: server.url ?? '', mails, holds, payments, stop: () => server.close(true) };
}

/** Clients of the bank and of the mail server, for server steps. */
export const bank = {
  hold: (cents: number, key: string, signal: AbortSignal): Promise<Hold> =>
    post('/hold', { cents }, key, signal) as Promise<Hold>,
  release: (hold: string, key: string, signal: AbortSignal): Promise<unknown> =>
    post('/release', { hold }, key, signal),
  pay: (hold: string, key: string, signal: AbortSignal): Promise<unknown> =>
    post('/pay', { hold }, key, signal),
};
export const outbox = {
  send: (mail: Mail, key: string, signal: AbortSignal): Promise<unknown> =>
    post('/mail', mail, key, signal),
};

async function post(
  path: string,
  body: object,
  key: string,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await fetch(new URL(path, process.env['WORLD_URL']), {
    method: 'POST',
    headers: { 'idempotency-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw new Error(`${path} responded with ${response.status}`);
  return await response.json();
}
