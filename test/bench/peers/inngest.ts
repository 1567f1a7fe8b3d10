import { createHash } from 'node:crypto';
import type { Candidate } from '../harness.ts';
import type { Load } from './load.ts';

interface Tools {
  readonly step: { run(id: string, body: () => unknown): Promise<{ readonly id: string }> };
}
interface Client {
  createFunction(options: unknown, body: (tools: Tools) => Promise<unknown>): unknown;
}
interface Main {
  readonly Inngest: new (options: unknown) => Client;
}
interface Edge {
  readonly serve: (options: {
    readonly client: Client;
    readonly functions: readonly unknown[];
  }) => (request: Request) => Promise<Response>;
}

/**
 * Sends `serve` the server's request for the next step of a run. Its body contains all memoized
 * steps so far.
 */
export function loadInngest(load: Load): (entries: number) => Candidate {
  const { Inngest } = load('inngest') as Main;
  const { serve } = load('inngest/edge') as Edge;
  const silent = { info: () => {}, warn: () => {}, error: () => {}, debug: () => {} };
  return (entries) => {
    const client = new Inngest({ id: 'bench', isDev: true, logger: silent });
    const bench = client.createFunction(
      { id: 'bench', triggers: [{ event: 'bench/go' }] },
      async ({ step }) => {
        let charged = 0;
        // Defines one more step than the memoized ones: the step that runs.
        for (let index = 0; index <= entries; index += 1) {
          charged += (await step.run('charge', () => ({ id: 'ch_1' }))).id.length;
        }
        return charged;
      },
    );
    const handler = serve({ client, functions: [bench] });
    const ids = Array.from({ length: entries }, (_, index) =>
      createHash('sha1')
        .update(index === 0 ? 'charge' : `charge:${index}`)
        .digest('hex'),
    );
    const event = { name: 'bench/go', data: {}, id: 'event', ts: 0 };
    const body = JSON.stringify({
      version: 2,
      event,
      events: [event],
      steps: Object.fromEntries(ids.map((id) => [id, { type: 'data', data: { id: 'ch_1' } }])),
      ctx: {
        run_id: 'run',
        attempt: 0,
        disable_immediate_execution: false,
        use_api: false,
        stack: { stack: ids, current: entries },
      },
    });
    return {
      name: 'inngest',
      run: async (times) => {
        for (let count = 0; count < times; count += 1) {
          const request = new Request('http://localhost/api/inngest?fnId=bench-bench&stepId=step', {
            method: 'POST',
            headers: { 'content-type': 'application/json', host: 'localhost' },
            body,
          });
          const response = await handler(request);
          await response.text();
          // Status 206 means that a step ran and the function continues later.
          if (response.status !== 206) throw new Error(`Inngest answered ${response.status}`);
        }
      },
    };
  };
}
