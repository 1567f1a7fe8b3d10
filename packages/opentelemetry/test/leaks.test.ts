import {
  all,
  elicit,
  memoryStore,
  poll,
  saga,
  SagaError,
  sample,
  step,
  type QueueMessage,
  type SagaCaller,
  type SagaQueue,
  type Json,
  type StepAnswer,
} from '@mcp-saga/server';
import { openTelemetry } from '@mcp-saga/opentelemetry';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { hostOf, keys } from './support/sagas.ts';
import { manageContext, tracing, type Tracing } from './support/tracing.ts';
import { alterEnd } from '../../../test/support/wire/tamper.ts';

let stop: () => void;
beforeAll(() => {
  stop = manageContext();
});
afterAll(() => stop());

const mark = 'kq918273';
/** The same as a number. Random IDs of spans and their times contain a short number by chance. */
const count = 918_273_645_546_372;

const Way = z.object({
  way: z.enum(['step', 'body', 'public', 'cause', 'undo', 'go']),
  note: z.string().optional(),
});

/** Has a secret in each place where something is said. */
function secretive(idempotencyKeys: Set<string>) {
  const undo = ({ idempotencyKey }: { readonly idempotencyKey: string }): string => {
    idempotencyKeys.add(idempotencyKey);
    throw new Error(`${mark}-undo`);
  };
  return saga(
    {
      name: 'secretive',
      version: '1',
      input: z.object({ argument: z.unknown().optional() }),
    },
    function* ({ argument }) {
      yield* all({
        one: step(
          'charge',
          ({ idempotencyKey }) => {
            idempotencyKeys.add(idempotencyKey);
            return { secret: `${mark}-result`, count };
          },
          { input: { secret: `${mark}-input` }, key: `${mark}-key`, compensate: undo },
        ),
        two: step('login', () => `${mark}-login`, { keep: false }),
      });
      const { way, note } = yield* elicit('way', {
        message: `Which way? ${mark}-message`,
        schema: Way,
      });
      yield* poll('look', () => `${mark}-seen`, {
        every: 1,
        timeout: 10,
        report: () => `${mark}-report`,
      });
      yield* step(
        'flaky',
        ({ attempt }) => {
          const said = `${mark}-thrown ${note}`;
          if (way === 'step')
            throw Object.assign(new Error(said), { data: { said }, code: count, name: said });
          if (attempt === 1) throw new Error(said);
          return said;
        },
        { retry: { attempts: 2, delay: 1 } },
      );
      if (way === 'body') throw new Error(`${mark}-body`);
      if (way === 'public') throw new SagaError(`${mark}-public ${note}`);
      if (way === 'cause') throw new TypeError('x', { cause: new Error(`${mark}-cause`) });
      yield* sample('judge', {
        messages: [{ role: 'user', content: { type: 'text', text: `${mark}-prompt` } }],
        maxTokens: 10,
      });
      return `${mark}-returned ${JSON.stringify(argument)}`;
    },
  );
}

const json: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(`${mark}-text`, count, null, true, `${mark}"\\`),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('way', 'note', 'action', 'content', 'code'), tie('json'), {
      maxKeys: 4,
    }),
  ),
})).json;

const toWay = (way: string): StepAnswer => ({
  stepId: 'way',
  result: { action: 'accept', content: { way, note: `${mark}-note` } },
});
const said: StepAnswer = {
  stepId: 'judge',
  result: {
    role: 'assistant',
    content: { type: 'text', text: `${mark}-said` },
    model: `${mark}-model`,
  },
};
const refused: StepAnswer = { stepId: 'way', result: { action: 'decline' } };
const broken = fc
  .record({ stepId: fc.constantFrom('way', 'judge', `${mark}-step`), data: json })
  .map(({ stepId, data }): StepAnswer => ({
    stepId,
    error: { code: count, message: `${mark}-error`, data },
  }));

const answer: fc.Arbitrary<StepAnswer> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('step', 'body', 'public', 'cause', 'go', 'go', 'go').map(toWay),
  },
  { weight: 4, arbitrary: fc.constant(said) },
  fc.constant(refused),
  broken,
  fc.record({ stepId: fc.constantFrom('way', 'judge', `${mark}-step`), result: json }),
);

/** What a client may do with the tokens it has, and the queue with its newest message. */
const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .array(answer, { maxLength: 2 })
      .map((answers) => ({ do: 'resume', answers }) as const),
  },
  fc.constant({ do: 'repeat' } as const),
  fc.constant({ do: 'mangle' } as const),
  fc.constant({ do: 'other' } as const),
  fc.constant({ do: 'cancel' } as const),
  fc.constant({ do: 'deliver' } as const),
);

/** Runs that reach each end, independent of random choices. */
const resume = (...answers: StepAnswer[]) => ({ do: 'resume', answers }) as const;
const everywhere: [
  { argument: Json; actions: (typeof action extends fc.Arbitrary<infer A> ? A : never)[] },
][] = [
  [{ argument: null, actions: [resume(toWay('go')), resume(said), { do: 'repeat' }] }],
  ...['step', 'body', 'public', 'cause'].map((way): (typeof everywhere)[number] => [
    { argument: mark, actions: [resume(toWay(way))] },
  ]),
  [{ argument: mark, actions: [{ do: 'mangle' }, { do: 'other' }, resume(refused)] }],
  [{ argument: mark, actions: [{ do: 'cancel' }] }],
  [{ argument: mark, actions: [{ do: 'deliver' }] }],
  [{ argument: mark, actions: [resume(toWay('go')), { do: 'deliver' }, { do: 'deliver' }] }],
];

/** All that an exporter gets of the spans. */
function exported(traced: Tracing): string {
  return JSON.stringify(
    traced.spans().map((span) => ({
      name: span.name,
      context: span.spanContext(),
      parent: span.parentSpanContext,
      attributes: span.attributes,
      events: span.events,
      links: span.links,
      status: span.status,
      scope: span.instrumentationScope,
      resource: span.resource.attributes,
    })),
  );
}

test('[T12] no span contains an argument, answer, result, message, principal, key, or token', async () => {
  const outcomes = new Set<unknown>();
  await fc.assert(
    fc.asyncProperty(
      fc.record({ argument: json, actions: fc.array(action, { maxLength: 4 }) }),
      async ({ argument, actions }) => {
        const traced = tracing();
        const secrets = new Set<string>([keys.slice(keys.indexOf(':') + 1)]);
        let now = 1_760_000_000_000;
        const clock = (): number => (now += 5);
        const messages: { readonly message: QueueMessage; readonly at: number }[] = [];
        const queue: SagaQueue = {
          send: (message, at) => {
            secrets.add(message.token);
            messages.push({ message, at });
          },
        };
        const deliver = async (): Promise<object> => {
          const { message, at } = messages.at(-1) ?? {};
          if (message === undefined || at === undefined) throw new Error('There is no message.');
          now = Math.max(now, at);
          const delivery = await host.deliver(message);
          outcomes.add(`delivery: ${delivery.status}`);
          return delivery;
        };
        const host = hostOf([secretive(secrets)], {
          telemetry: openTelemetry({ tracerProvider: traced.provider }),
          store: memoryStore({ clock }),
          queue,
          testing: { clock, sleep: async () => undefined },
          services: { secret: `${mark}-services` },
          auth: { principal: (info) => info as { subject: string; client: string } },
          hooks: {
            onReject: () => undefined,
            onTurn: () => undefined,
            onError: () => undefined,
          },
        });
        const caller: SagaCaller = {
          user: {
            subject: `${mark}-subject`,
            client: `${mark}-client`,
            issuer: `${mark}-issuer`,
          },
          capabilities: { elicitation: {}, sampling: {}, mark },
          traceContext: { traceparent: `00-${mark}`, tracestate: mark },
        };
        const tokens: string[] = [];
        const keep = (turn: { readonly token?: string }): void => {
          if (turn.token !== undefined) tokens.unshift(turn.token);
        };
        const quietly = async (turn: Promise<object>): Promise<void> =>
          await turn.then(keep, () => undefined);
        await quietly(host.start('secretive', { argument }, { caller }));
        let last: readonly StepAnswer[] = [];
        for (const next of actions) {
          const [token = ''] = tokens;
          const acts = {
            resume: () =>
              host.resume(token, (last = next.do === 'resume' ? next.answers : []), { caller }),
            repeat: () => host.resume(tokens[1] ?? token, last, { caller }),
            mangle: () => host.resume(alterEnd(token), last, { caller }),
            other: () => host.resume(token, last, { caller: 'anonymous' }),
            cancel: () => host.cancel(token, { caller, reason: `${mark}-reason` }),
            deliver,
          };
          await quietly(acts[next.do]());
        }
        for (const { attributes } of traced.spans())
          outcomes
            .add(attributes['saga.outcome'])
            .add(attributes['error.type'])
            .add(attributes['saga.action']);
        const told = exported(traced);
        expect(told).toContain('saga secretive');
        expect(told).not.toContain(mark);
        expect(told).not.toContain(String(count));
        for (const secret of [...secrets, ...tokens]) {
          expect(secret.length).toBeGreaterThan(30);
          expect(told).not.toContain(secret);
          for (const part of secret.split('.'))
            if (part.length > 40) expect(told).not.toContain(part);
        }
      },
    ),
    { numRuns: 150, examples: everywhere },
  );
  // It has been everywhere.
  expect([...outcomes]).toEqual(
    expect.arrayContaining([
      'suspended',
      'completed',
      'failed',
      'repeat',
      'cancel',
      'step_failed',
      'elicitation_refused',
      'saga_cancelled',
      'saga',
      'undecryptable',
      'principal',
      'TypeError',
      'delivery: ended',
    ]),
  );
});
