/**
 * Server process of the matrix: serves the quickstart and `provision` in all HTTP modes, or over
 * stdio.
 */
import type { SagaHostOptions } from '@mcp-saga/server';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { serve } from 'srvx';
import { provision } from '../../examples/provision/saga.ts';
import { complexTool } from '../../examples/quickstart/saga.ts';
import { serveEveryWay } from './serve-every-way.ts';
import { askingModels } from '../support/asking-models.ts';

const hostOptions: SagaHostOptions = {
  sagas: askingModels([complexTool, provision]),
  name: 'matrix',
  answerers: {
    // For clients that cannot ask their user: the model that calls the tool answers.
    model: 'accept',
  },
  anonymous: { tasks: 'accept', resumableRequests: 'accept' },
  hooks: {
    onStep: ({ kind, path, type }) => {
      if (kind === 'step' && type === 'succeeded') console.error(`ran ${path}`);
    },
    onError: (error) => console.error('error', error),
  },
};
const { fetch, version1, version2 } = serveEveryWay(hostOptions);

const [, , transport = 'http'] = process.argv;
switch (transport) {
  case 'stdio-1':
    await version1().connect(new StdioServerTransport());
    break;
  case 'stdio-2':
    serveStdio(version2);
    break;
  default: {
    const server = serve({
      fetch,
      hostname: '127.0.0.1',
      port: Number(process.env['PORT'] ?? 0),
      silent: true,
    });
    await server.ready();
    console.log(`MCP is served at ${new URL('/mcp', server.url).href}`);
  }
}
