import type { Json } from '@mcp-saga/core';

/** The identifier of the extension. */
export const tasksKey = 'io.modelcontextprotocol/tasks';

/** Whether a client that declared these capabilities knows tasks. */
export function declaresTasks(capabilities: Json | undefined): boolean {
  const { extensions } = Object(capabilities) as { readonly extensions?: unknown };
  const declared = (Object(extensions) as { readonly [key: string]: unknown })[tasksKey];
  return typeof declared === 'object' && declared !== null;
}

/** What `-32021` names where a client has to know tasks and does not. */
export const requiredCapabilities: { readonly extensions: { readonly [key: string]: object } } = {
  extensions: { [tasksKey]: {} },
};
