import { testSaga } from '@mcp-saga/testing';
import { listOrders } from './paging.ts';

/** Two pages, each a saga of its own. */
export const script = testSaga(listOrders, { input: {} });
