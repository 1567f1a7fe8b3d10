import { qstashQueue, receiveQstash, type Receiver } from '@mcp-saga/queues';

export const queue = qstashQueue({
  token: process.env['QSTASH_TOKEN'] ?? '',
  currentSigningKey: process.env['QSTASH_CURRENT_SIGNING_KEY'] ?? '',
  nextSigningKey: process.env['QSTASH_NEXT_SIGNING_KEY'] ?? '',
  url: 'https://shop.example/saga/wake',
});

/** Serves `POST /saga/wake`. */
export const wake = (host: Receiver, request: Request): Promise<Response> =>
  receiveQstash(host, queue, request);
