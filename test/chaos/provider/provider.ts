/**
 * Provider process with faults: runs each requested effect once per idempotency key, but may drop
 * or delay its response.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { between, seeded } from '../seeded.ts';
import { Ledger, type EffectRow, type QueuedRow, type Settled, type UndoRow } from './ledger.ts';
import type { NewNote } from './notes.ts';
import { isFinalSale, isOutOfStock } from './refusals.ts';

const { LEDGER = 'ledger.sqlite', SEED = '1', PORT = '0' } = process.env;
const ledger = new Ledger(LEDGER);
const draw = seeded(Number(SEED));
/** Numbers of injected faults. */
const faults = { late: 0, dropped: 0, failed: 0, outages: 0 };
let isCalm = false;
/**
 * End of the outage, in milliseconds since the epoch. Until then, every effect gets a 503 response.
 */
let outageUntil = 0;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Responds after a delay, or not at all. The effect has run by then. */
async function answer(response: ServerResponse, status: number, body: object): Promise<void> {
  const luck = isCalm ? 1 : draw();
  if (luck < 0.04) {
    faults.dropped += 1;
    response.destroy();
    return;
  }
  if (luck < 0.1) {
    faults.late += 1;
    // Some delays exceed the caller's timeout.
    await pause(between(draw, 100, 2_000));
  }
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}') as unknown;
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request);
  const { url = '' } = request;
  switch (url) {
    case '/effect':
    case '/note':
    case '/undo': {
      const luck = isCalm ? 1 : draw();
      if (luck < 0.03 || (url !== '/undo' && Date.now() < outageUntil)) {
        faults.failed += 1;
        response.writeHead(503).end();
        return;
      }
      // A delayed request: its sender may be dead when the request arrives.
      if (luck < 0.1) await pause(between(draw, 20, 600));
      if (url === '/effect') {
        const wanted = body as EffectRow;
        if (isOutOfStock(wanted.kind, wanted.purchase))
          await answer(response, 422, { error: 'out of stock' });
        else if (ledger.effect(wanted)) await answer(response, 200, { id: wanted.key.slice(0, 8) });
        else await answer(response, 409, { error: 'withdrawn' });
        return;
      }
      if (url === '/note') {
        ledger.note(body as NewNote);
        await answer(response, 200, {});
        return;
      }
      const unwanted = body as UndoRow;
      if (isFinalSale(unwanted.kind, unwanted.purchase))
        await answer(response, 422, { error: 'final sale' });
      else {
        ledger.undo(unwanted);
        await answer(response, 200, {});
      }
      return;
    }
    case '/queue/sent':
      ledger.sent(body as QueuedRow);
      break;
    case '/queue/delivered':
      ledger.delivered(body as QueuedRow);
      break;
    case '/queue/removed':
      ledger.removed(body as QueuedRow);
      break;
    case '/settled':
      ledger.settled(body as Settled);
      break;
    case '/notes':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(ledger.notes((body as { readonly after: number }).after)));
      return;
    case '/calm':
      isCalm = true;
      outageUntil = 0;
      break;
    case '/outage':
      faults.outages += 1;
      outageUntil = Date.now() + (body as { readonly ms: number }).ms;
      break;
    case '/ledger':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...ledger.rows(), faults }));
      return;
    default:
      response.writeHead(404).end();
      return;
  }
  response.writeHead(204).end();
}

const server = createServer((request, response) => {
  serve(request, response).catch((error: unknown) => {
    console.error('provider', error);
    response.destroy();
  });
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
// The parent process has died.
process.stdin.once('close', () => process.exit()).resume();
