import { saga, type Saga, type Schema, type Steps } from '@mcp-saga/server';

// TODO: stands in for `promptSaga` of '@mcp-saga/server', which is to come. Delete this file and import that one.
/** Makes a tool of what will be a prompt. */
export function promptSaga(
  options: {
    readonly name: string;
    readonly version: string;
    readonly description: string;
    readonly input: Schema;
  },
  body: () => Steps<string>,
): Saga<undefined, undefined> {
  const { name, version, description } = options;
  return saga({ name, version, description }, body);
}
