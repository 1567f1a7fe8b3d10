import { serveLoadSaga } from './serve-saga.ts';

await serveLoadSaga();
