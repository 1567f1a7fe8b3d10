import { resourceSaga, step } from '@mcp-saga/server';
import type { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js';
import {
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { McpServer } from '@modelcontextprotocol/server';
import { image } from './image.ts';

const template = resourceSaga(
  {
    name: 'template',
    version: '1',
    description: 'A resource with a parameter',
    uriTemplate: 'test://template/{id}/data',
    mimeType: 'application/json',
  },
  function* ({ id }) {
    return yield* step('read', () =>
      JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    );
  },
);

/** The resource of the scenario `resources-templates-read`. */
export const resourceSagas = [template] as const;

const texts = { mimeType: 'text/plain', text: 'This is the content of a resource.' };

/**
 * Registers the resources of the suite that are not sagas, since their URIs are fixed. They never
 * change.
 */
export function registerResources(server: McpServer | McpServerV1): void {
  for (const [name, contents] of [
    ['static-text', texts],
    ['static-binary', { mimeType: 'image/png', blob: image }],
    ['watched-resource', texts],
  ] as const) {
    const uri = `test://${name}`;
    const config = { description: `The ${name}`, mimeType: contents.mimeType };
    const read = () => ({ contents: [{ uri, ...contents }] });
    if (server instanceof McpServer) server.registerResource(name, uri, config, read);
    else server.registerResource(name, uri, config, read);
  }
  if (server instanceof McpServer) {
    server.server.registerCapabilities({ resources: { subscribe: true } });
    server.server.setRequestHandler('resources/subscribe', () => ({}));
    server.server.setRequestHandler('resources/unsubscribe', () => ({}));
  } else {
    server.server.registerCapabilities({ resources: { subscribe: true } });
    server.server.setRequestHandler(SubscribeRequestSchema, () => ({}));
    server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  }
}
