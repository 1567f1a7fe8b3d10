import { callSaga } from '@mcp-saga/client';
import {
  Client,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { sampled, type Answers } from './answers.ts';
import { resumed } from './resumed.ts';
import type { MatrixClient } from './matrix-client.ts';
import type { World } from './world.ts';

const info = { name: 'matrix', version: '1.0.0' };

/** Transport between a client and a server. */
type Reach =
  | 'http in turns'
  | 'http, v2 session'
  | 'http, v1 session'
  | 'stdio, v2 server'
  | 'stdio, v1 server';
/**
 * Kind of call: as any tool, as the model of a client without capabilities, or with the saga
 * methods.
 */
type Way = 'as a tool' | 'as its model' | 'by callSaga';

/** The official SDK's client, in one version and protocol era. */
interface Kind {
  readonly name: string;
  connect(world: World, reach: Reach, answers: Answers | undefined): Promise<Connected>;
}

type Connected = Parameters<typeof callSaga>[0] & {
  callTool(call: object): Promise<unknown>;
  close(): Promise<void>;
};

const version2 = (mode: 'legacy' | 'auto'): Kind => ({
  name: `v2 client, ${mode === 'auto' ? '2026-07-28' : '2025-11-25'}`,
  connect: async (world, reach, answers) => {
    const capabilities = answers === undefined ? {} : { elicitation: { form: {} }, sampling: {} };
    const client = new Client(info, { capabilities, versionNegotiation: { mode } });
    if (answers !== undefined) {
      client.setRequestHandler('elicitation/create', () => answers.form);
      client.setRequestHandler('sampling/createMessage', () => sampled(answers.text));
    }
    await client.connect(
      transportOf(world, reach, StreamableHTTPClientTransport, StdioClientTransport),
    );
    return client;
  },
});

const version1: Kind = {
  name: 'v1 client',
  connect: async (world, reach, answers) => {
    const capabilities = answers === undefined ? {} : { elicitation: { form: {} }, sampling: {} };
    const client = new ClientV1(info, { capabilities });
    if (answers !== undefined) {
      client.setRequestHandler(ElicitRequestSchema, () => answers.form);
      client.setRequestHandler(CreateMessageRequestSchema, () => sampled(answers.text));
    }
    await client.connect(transportOf(world, reach, HttpV1, StdioV1));
    return client;
  },
};

type Http = new (url: URL, options: { readonly fetch: typeof fetch }) => object;
type Stdio = new (command: ReturnType<World['stdio']>) => object;

function transportOf(world: World, reach: Reach, http: Http, stdio: Stdio): Transport {
  switch (reach) {
    case 'http in turns': {
      // Each request goes to the other process.
      let next = 0;
      const inTurns: typeof fetch = (_, init) => fetch(world.urls[next++ % 2] as URL, init);
      return new http(world.urls[0], { fetch: inTurns }) as Transport;
    }
    case 'http, v2 session':
      return new http(new URL('/sessions/2', world.urls[0]), { fetch }) as Transport;
    case 'http, v1 session':
      return new http(new URL('/sessions/1', world.urls[0]), { fetch }) as Transport;
    case 'stdio, v2 server':
    case 'stdio, v1 server': {
      const transport = new stdio(
        world.stdio(reach === 'stdio, v1 server' ? 1 : 2),
      ) as Transport & {
        readonly stderr?: NodeJS.ReadableStream | null;
      };
      let said = '';
      transport.stderr?.on('data', (chunk: Buffer) => {
        const lines = (said + chunk.toString()).split('\n');
        said = lines.pop() ?? '';
        world.ran.push(
          ...lines
            .filter((line) => line.startsWith('ran '))
            .map((line) => line.slice('ran '.length)),
        );
      });
      return transport;
    }
  }
}

function sdkClient(
  dialect: string,
  kind: Kind,
  reach: Reach,
  way: Way = 'as a tool',
): MatrixClient {
  return {
    name: `${dialect}: ${kind.name}, ${reach}`,
    call: async (world, call, answers) => {
      const client = await kind.connect(world, reach, way === 'as its model' ? undefined : answers);
      try {
        if (way === 'by callSaga') return await callSaga(client, call);
        const ask = async (args: object): Promise<unknown> =>
          await client.callTool({ ...call, arguments: args });
        if (way === 'as its model') return await resumed(ask, call.arguments, answers);
        return await ask(call.arguments);
      } finally {
        await client.close();
      }
    },
  };
}

const modern = version2('auto');
const legacy = version2('legacy');

/** All combinations in which the official SDK's clients reach a saga. */
export const sdkClients: readonly MatrixClient[] = [
  sdkClient('saga methods', modern, 'http in turns', 'by callSaga'),
  sdkClient('saga methods', legacy, 'http in turns', 'by callSaga'),
  sdkClient('saga methods', version1, 'http in turns', 'by callSaga'),
  sdkClient('saga methods', version1, 'stdio, v1 server', 'by callSaga'),
  sdkClient('multi round-trip', modern, 'http in turns'),
  sdkClient('multi round-trip', modern, 'stdio, v2 server'),
  sdkClient('push', legacy, 'http, v2 session'),
  sdkClient('push', legacy, 'http, v1 session'),
  sdkClient('push', version1, 'http, v2 session'),
  sdkClient('push', version1, 'http, v1 session'),
  sdkClient('push', legacy, 'stdio, v2 server'),
  sdkClient('push', version1, 'stdio, v2 server'),
  sdkClient('push', legacy, 'stdio, v1 server'),
  sdkClient('push', version1, 'stdio, v1 server'),
  sdkClient('resume token', modern, 'http in turns', 'as its model'),
  sdkClient('resume token', legacy, 'http in turns', 'as its model'),
  sdkClient('resume token', version1, 'http in turns', 'as its model'),
  sdkClient('resume token', version1, 'http, v1 session', 'as its model'),
  sdkClient('resume token', legacy, 'stdio, v2 server', 'as its model'),
];
