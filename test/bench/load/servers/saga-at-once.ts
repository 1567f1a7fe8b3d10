import { deployAtOnce, serveLoadSagas } from './serve-saga.ts';

await serveLoadSagas([deployAtOnce]);
