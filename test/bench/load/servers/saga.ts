import { deploy, serveLoadSagas } from './serve-saga.ts';

await serveLoadSagas([deploy]);
