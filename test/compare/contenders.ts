import type { Contender } from './contender.ts';
import { aiSdk, aiSdkWithKey } from './contenders/ai-sdk.ts';
import { langGraph, langGraphByKey } from './contenders/langgraph.ts';
import { mastra, mastraByKey } from './contenders/mastra.ts';
import {
  mcpSaga,
  mcpSagaHandshake,
  mcpSagaHandshakeLate,
  mcpSagaOnce,
  mcpSagaWithoutStore,
  mcpSagaWithoutUndo,
} from './contenders/mcp-saga.ts';
import { plainSdk, plainSdkWithKey } from './contenders/plain-sdk.ts';

/** All contenders, in the order of the table. */
export const contenders: readonly Contender[] = [
  plainSdk,
  plainSdkWithKey,
  aiSdk,
  aiSdkWithKey,
  langGraph,
  langGraphByKey,
  mastra,
  mastraByKey,
  mcpSaga,
  mcpSagaOnce,
  mcpSagaWithoutStore,
  mcpSagaHandshake,
  mcpSagaHandshakeLate,
  mcpSagaWithoutUndo,
];
