import {
  all,
  elicit,
  promptSaga,
  random,
  resourceSaga,
  saga,
  sample,
  sleep,
  step,
  uuid,
  type Program,
} from '@mcp-saga/server';
import * as z from 'zod';
import type { Effects } from './effects.ts';

const Address = z.object({ address: z.string() });
const Place = z.object({ place: z.string() });
const Go = z.object({ go: z.boolean() });
const Labelled = z.object({ label: z.string() });

/** Sagas of the suite. Records the effects of their steps under the label of each call. */
export function conformanceSagas(effects: Effects): readonly Program[] {
  const note =
    (label: string, what: string) =>
    ({ idempotencyKey }: { readonly idempotencyKey: string }): void =>
      effects.note(label, what, idempotencyKey);

  /**
   * Covers many features: asks the user and the model, waits, works in parallel, and can be undone.
   */
  const order = saga(
    {
      name: 'order',
      version: '1',
      description: 'Ships what was reserved',
      input: Labelled,
      task: 'prefer',
      reuse: 'ok',
    },
    function* ({ label }) {
      yield* step('reserve', note(label, 'reserve'), { compensate: note(label, 'release') });
      const { address } = yield* elicit('address', { message: 'Where to?', schema: Address });
      const { content } = yield* sample('safe', {
        messages: [{ role: 'user', content: { type: 'text', text: `Is '${address}' safe?` } }],
        maxTokens: 100,
      });
      // Uses a timer of the runtime.
      yield* sleep(5);
      const { wrapped } = yield* all({
        wrapped: step('wrap', async (context) => {
          await Promise.resolve();
          note(label, 'wrap')(context);
          return { at: new Date(0), count: 2n, of: new Map([['ribbon', 1]]) };
        }),
        labelled: step('label', note(label, 'label')),
      });
      yield* step('ship', note(label, 'ship'));
      const said = 'text' in content ? content.text : '';
      return `To ${address}: ${said} ${wrapped.at.toISOString()} ${wrapped.count} ${[...wrapped.of.keys()].join()}`;
    },
  );

  /** Asks for its place the given number of times, with a step at each stop. */
  const relay = saga(
    { name: 'relay', version: '1', input: Labelled.extend({ stops: z.number() }) },
    function* ({ label, stops }) {
      const places: string[] = [];
      const drawn: unknown[] = [];
      for (let stop = 1; stop <= stops; stop += 1) {
        const { place } = yield* elicit('stop', {
          message: `Stop ${stop}: where is this?`,
          schema: Place,
        });
        const passed = yield* step('pass', (context) => {
          note(label, `pass ${stop}`)(context);
          return { stop: BigInt(stop), at: new Date(stop), place: new Set([place]) };
        });
        drawn.push(yield* random(), yield* uuid());
        places.push(`${passed.stop} ${passed.at.getTime()} ${[...passed.place].join()}`);
      }
      return JSON.stringify({ places, drawn });
    },
  );

  /** From its second turn, carries a number of incompressible bytes and a compressible text. */
  const ballast = saga(
    {
      name: 'ballast',
      version: '1',
      input: Labelled.extend({ bytes: z.number(), text: z.string() }),
      reuse: 'ok',
    },
    function* ({ label, bytes, text }) {
      yield* elicit('go', { message: 'Go?', schema: Go });
      yield* step('board', note(label, 'board'), { compensate: note(label, 'leave') });
      const load = yield* step('load', () => 'x'.repeat(bytes));
      yield* elicit('go', { message: 'Go on?', schema: Go });
      return `${load.length} ${text.length}`;
    },
  );

  /** Accepts each token only once, which needs a guard. */
  const ticket = saga({ name: 'ticket', version: '1', input: Labelled }, function* ({ label }) {
    const { place } = yield* elicit('place', { message: 'Where?', schema: Place });
    yield* step('stamp', note(label, 'stamp'), { once: true });
    return `Stamped at ${place}`;
  });

  const greeting = promptSaga(
    { name: 'greeting', version: '1', input: Labelled },
    function* ({ label }) {
      yield* step('look', note(label, 'look'));
      const { place } = yield* elicit('place', { message: 'Where?', schema: Place });
      return `Hello, ${place}`;
    },
  );

  const page = resourceSaga(
    { name: 'page', version: '1', uriTemplate: 'pages://{label}' },
    function* (args) {
      yield* step('look', note(args.label, 'look'));
      const { place } = yield* elicit('place', { message: 'Where?', schema: Place });
      return `A page of ${place}`;
    },
  );

  return [order, relay, ballast, ticket, greeting, page];
}
