/** A minimal operations system, which honors idempotency keys. */
import { serve } from 'srvx';

export interface Room {
  readonly room: string;
}

export interface Operations {
  readonly url: string;
  /** Open rooms: the service by the name of the room. */
  readonly rooms: ReadonlyMap<string, string>;
  /** Services that failed over, with one entry for each failover. */
  readonly failedOver: readonly string[];
  /** Number of opened rooms, without repeated requests. */
  readonly opened: number;
  stop(): Promise<void>;
}

/** Serves the system on a free port of 127.0.0.1. */
export async function startOperations(): Promise<Operations> {
  const rooms = new Map<string, string>();
  const failedOver: string[] = [];
  const answers = new Map<string, object>();
  let opened = 0;
  const act = (what: string, name: string): object => {
    switch (what) {
      case 'open': {
        opened += 1;
        const room = `room-${opened}`;
        rooms.set(room, name);
        return { room };
      }
      case 'close':
        rooms.delete(name);
        return {};
      default:
        failedOver.push(name);
        return {};
    }
  };
  const server = serve({
    hostname: '127.0.0.1',
    port: 0,
    silent: true,
    fetch: (request) => {
      const key = request.headers.get('idempotency-key') ?? crypto.randomUUID();
      const [, what = '', name = ''] = new URL(request.url).pathname.split('/');
      const answer = answers.get(key) ?? act(what, name);
      answers.set(key, answer);
      return Response.json(answer);
    },
  });
  await server.ready();
  return {
    url: server.url ?? '',
    rooms,
    failedOver,
    get opened() {
      return opened;
    },
    stop: () => server.close(true),
  };
}

/** Client of the operations system, for effects. */
export const ops = {
  open: (service: string, key: string, signal: AbortSignal): Promise<Room> =>
    post(`/open/${service}`, key, signal) as Promise<Room>,
  close: (room: string, key: string, signal: AbortSignal): Promise<unknown> =>
    post(`/close/${room}`, key, signal),
  failOver: (service: string, key: string, signal: AbortSignal): Promise<unknown> =>
    post(`/fail-over/${service}`, key, signal),
};

async function post(path: string, key: string, signal: AbortSignal): Promise<unknown> {
  const url = new URL(path, process.env['OPS_URL']);
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'idempotency-key': key },
    signal,
  });
  return await response.json();
}
