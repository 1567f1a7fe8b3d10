import { Exchange } from './exchange.ts';
import worker from './worker.ts';

/** Server in a page. The bridge calls it. */
globalThis.startExchange = () => new Exchange(worker.fetch);
