import * as server from '@mcp-saga/server';
import { program } from '#examples/parts.js';
import { createEngine } from './engine.ts';
import { evaluate, machineFile } from './evaluate.ts';
import { loaderOf, type Exports } from './load-files.ts';
import type { Evaluate } from './playground.ts';
import { serveRequests } from './serve-requests.ts';

const parts = { '@mcp-saga/core': server, '@mcp-saga/core/program': program };
const loaded = new Map<string, Exports>();
const evaluateAll = evaluate.bind(undefined, (files) => {
  const hasMachines = files.some(({ name }) => name === machineFile);
  return hasMachines ? (loaderOf(files, parts, loaded)(`./${machineFile}`, 'The page') as never) : undefined;
});
serveRequests(createEngine(evaluateAll as Evaluate));
