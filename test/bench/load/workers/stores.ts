import { createSagaObject, type DurableObjectNamespaceLike } from '@mcp-saga/cloudflare';
import type { D1Like, SqlValue } from '@mcp-saga/sql';

// D1 and Durable Objects in workerd, for a server on Node: each HTTP request is one statement, or
// one call of an object.
interface Env {
  readonly DB: D1Like;
  readonly SAGAS: DurableObjectNamespaceLike & {
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
}

/** URL that receives the queue messages from the alarm of an object. */
let host = '';

export const Sagas = createSagaObject({
  deliver: async (message) => {
    const { ok } = await fetch(host, { method: 'POST', body: JSON.stringify(message) });
    if (!ok) throw new Error('The host rejected a message');
  },
});

export default {
  async fetch(request: Request, { DB, SAGAS }: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    switch (pathname) {
      case '/host':
        host = await request.text();
        return new Response();
      case '/statement': {
        const { sql, values } = (await request.json()) as {
          readonly sql: string;
          readonly values: SqlValue[];
        };
        return Response.json(
          await DB.prepare(sql)
            .bind(...values)
            .all(),
        );
      }
      default:
        return await SAGAS.get(SAGAS.idFromName(searchParams.get('object') ?? '')).fetch(request);
    }
  },
};
