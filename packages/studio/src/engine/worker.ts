import * as core from '@mcp-saga/core';
import * as program from '@mcp-saga/core/program';
import * as shared from '@mcp-saga/core/shared';
import { createEngine } from './engine.ts';
import { evaluate, machineFile } from './evaluate.ts';
import { loaderOf, type Exports } from './load-files.ts';
import type { Evaluate } from './playground.ts';
import { serveRequests } from './serve-requests.ts';

const parts = {
  '@mcp-saga/core': core,
  '@mcp-saga/core/program': program,
  '@mcp-saga/core/shared': shared,
};
const loaded = new Map<string, Exports>();
const evaluateAll = evaluate.bind(undefined, (files) => {
  const hasMachines = files.some(({ name }) => name === machineFile);
  return hasMachines
    ? (loaderOf(files, parts, loaded)(`./${machineFile}`, 'The page') as never)
    : undefined;
});
serveRequests(createEngine(evaluateAll as Evaluate));
