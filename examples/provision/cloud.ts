/** A minimal cloud with an API, which honors idempotency keys. */
import { serve } from 'srvx';

export interface Machine {
  readonly id: string;
  readonly address: string;
  readonly price: string;
}

export interface Cloud {
  readonly url: string;
  /** Running machines. */
  readonly machines: ReadonlyMap<string, Machine>;
  /** Number of created machines, without repeated requests. */
  readonly created: number;
  stop(): Promise<void>;
}

/** Serves the cloud's API on a free port of 127.0.0.1. */
export async function startCloud(): Promise<Cloud> {
  const machines = new Map<string, Machine>();
  const answers = new Map<string, Machine | null>();
  let created = 0;
  const server = serve({
    hostname: '127.0.0.1',
    port: 0,
    silent: true,
    fetch: (request) => {
      const key = request.headers.get('idempotency-key') ?? crypto.randomUUID();
      const id = new URL(request.url).pathname.slice(1);
      if (!answers.has(key)) {
        if (request.method === 'POST') {
          created += 1;
          const machine = {
            id: `machine-${created}`,
            address: `10.0.0.${created}`,
            price: '0.12 EUR',
          };
          machines.set(machine.id, machine);
          answers.set(key, machine);
        } else {
          machines.delete(id);
          answers.set(key, null);
        }
      }
      return Response.json(answers.get(key));
    },
  });
  await server.ready();
  return {
    url: server.url ?? '',
    machines,
    get created() {
      return created;
    },
    stop: () => server.close(true),
  };
}

/** Client of the cloud, for server steps. */
export const cloud = {
  create: (size: string, idempotencyKey: string, signal: AbortSignal): Promise<Machine> =>
    call('POST', `/${size}`, idempotencyKey, signal) as Promise<Machine>,
  remove: (id: string, idempotencyKey: string, signal: AbortSignal): Promise<unknown> =>
    call('DELETE', `/${id}`, idempotencyKey, signal),
};

async function call(
  method: string,
  path: string,
  key: string,
  signal: AbortSignal,
): Promise<unknown> {
  const url = new URL(path, process.env['CLOUD_URL']);
  const response = await fetch(url, { method, headers: { 'idempotency-key': key }, signal });
  return await response.json();
}
