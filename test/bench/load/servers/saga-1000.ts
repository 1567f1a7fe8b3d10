import { elicit, saga } from '@mcp-saga/server';
import { Input, Target, where } from '../tool.ts';
import { deploy, serveLoadSagas } from './serve-saga.ts';

// The measured saga, and 999 others that no client calls.
const others = Array.from({ length: 999 }, (_, index) =>
  saga({ name: `other-${index}`, version: '1', input: Input }, function* () {
    return (yield* elicit('target', { message: where, schema: Target })).target;
  }),
);
await serveLoadSagas([deploy, ...others]);
