import * as server from '@mcp-saga/server';
import { crashEverywhere, failEverywhere, Provider, refuseEverywhere, testSaga } from '@mcp-saga/testing';
import * as zod from 'zod';
import type { Exports } from './load-files.ts';

/** Modules for code in the page. Test hosts are left out, for the size of the page. */
export const modules: Readonly<Record<string, Exports>> = {
  '@mcp-saga/server': server,
  '@mcp-saga/testing': { crashEverywhere, failEverywhere, Provider, refuseEverywhere, testSaga },
  zod,
};
