import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { DatabaseError, Pool } from 'pg';

/** The HTTP endpoint of Neon, in front of a PostgreSQL of this machine. */
export interface FakeNeon {
  /** Value of `neonConfig.fetchEndpoint`. */
  readonly endpoint: string;
  readonly close: () => Promise<void>;
}

/**
 * Starts an endpoint: a query and its parameters as JSON, and rows of text with the types of their
 * columns.
 */
export async function startFakeNeon(url: string): Promise<FakeNeon> {
  const pool = new Pool({ connectionString: url });
  pool.on('error', () => undefined);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { query, params } = JSON.parse(await text(request)) as {
      query: string;
      params: string[];
    };
    const send = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    try {
      const raw = { getTypeParser: () => (value: string) => value };
      const { rows, fields, command, rowCount } = await pool.query({
        text: query,
        values: params,
        rowMode: 'array',
        types: raw,
      });
      const types = fields.map(({ name, dataTypeID }) => ({ name, dataTypeID }));
      send(200, { rows, fields: types, command, rowCount, rowAsArray: true });
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      send(400, { message: error.message, code: error.code });
    }
  };
  const server = createServer((request, response) => void answer(request, response)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}/sql`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await pool.end();
    },
  };
}
