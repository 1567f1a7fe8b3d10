import type { StepContext } from '@mcp-saga/server';
import { elicit, isDeclined, sample, step } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import { z } from 'zod';
import { ops } from './ops.ts';

interface Incident {
  readonly service: string;
  readonly symptom: string;
}

const Verdict = z.object({
  verdict: z.enum(['taken', 'false alarm']).describe('Do you take it, or is it nothing?'),
});
const Severity = z.enum(['high', 'low']);

const ask = (who: string) =>
  elicit({
    message: ({ input }: { input: Incident }) =>
      `${who}: ${input.service} says "${input.symptom}". Yours?`,
    schema: Verdict,
  });

/**
 * Opens a room for an incident, and asks a person and the model at once. After five minutes, asks
 * the manager.
 */
export const triage = setup({
  types: {
    input: {} as Incident,
    context: {} as Incident & {
      readonly room: string;
      readonly verdict: string;
      readonly severity: string;
    },
    output: {} as string,
  },
  actors: {
    openRoom: step(
      ({ input, idempotencyKey, signal }: StepContext<Incident>) =>
        ops.open(input.service, idempotencyKey, signal),
      {
        label: ({ input }) => `the room for ${input.service}`,
        retry: 3,
        compensate: ({ result, idempotencyKey, signal }) =>
          ops.close(result.room, idempotencyKey, signal),
      },
    ),
    onCall: ask('On call'),
    manager: ask('Nobody on call takes it. Manager'),
    classify: sample({
      messages: ({ input }: { input: Incident }) => [
        {
          role: 'user',
          content: {
            type: 'text',
            text: `${input.service}: ${input.symptom}. Severity, high or low?`,
          },
        },
      ],
      maxTokens: 5,
      parse: ({ content }) => Severity.parse(content.type === 'text' ? content.text : ''),
    }),
    failOver: step(({ input, idempotencyKey, signal }: StepContext<Incident>) =>
      ops.failOver(input.service, idempotencyKey, signal),
    ),
  },
  guards: {
    isDeclined,
    isFalseAlarm: ({ context }) => context.verdict === 'false alarm',
    isSevere: ({ context }) => context.severity === 'high',
  },
}).createMachine({
  id: 'triage',
  context: ({ input }) => ({ ...input, room: '', verdict: '', severity: 'unknown' }),
  initial: 'opening',
  states: {
    opening: {
      invoke: {
        id: 'room',
        src: 'openRoom',
        input: ({ context }) => context,
        onDone: { target: 'triaging', actions: assign({ room: ({ event }) => event.output.room }) },
      },
    },
    triaging: {
      type: 'parallel',
      states: {
        person: {
          initial: 'onCall',
          states: {
            onCall: {
              invoke: {
                id: 'onCall',
                src: 'onCall',
                input: ({ context }) => context,
                onDone: {
                  target: 'answered',
                  actions: assign({ verdict: ({ event }) => event.output.verdict }),
                },
                onError: { guard: 'isDeclined', target: 'manager' },
              },
              // Later answers of the person on call are refused, because the manager is asked.
              after: { 300_000: 'manager' },
            },
            manager: {
              invoke: {
                id: 'manager',
                src: 'manager',
                input: ({ context }) => context,
                onDone: {
                  target: 'answered',
                  actions: assign({ verdict: ({ event }) => event.output.verdict }),
                },
              },
            },
            answered: { type: 'final' },
          },
        },
        model: {
          initial: 'classifying',
          states: {
            classifying: {
              invoke: {
                id: 'classify',
                src: 'classify',
                input: ({ context }) => context,
                onDone: {
                  target: 'known',
                  actions: assign({ severity: ({ event }) => event.output }),
                },
                // Without a valid answer, the severity stays unknown.
                onError: 'known',
              },
            },
            known: { type: 'final' },
          },
        },
      },
      onDone: [
        { guard: 'isFalseAlarm', target: 'falseAlarm' },
        { guard: 'isSevere', target: 'failingOver' },
        { target: 'handed' },
      ],
    },
    failingOver: {
      invoke: {
        id: 'failOver',
        src: 'failOver',
        input: ({ context }) => context,
        onDone: 'handed',
      },
    },
    handed: { type: 'final' },
    // Fails the saga, which closes the room.
    falseAlarm: { type: 'final', tags: ['compensate'] },
  },
  output: ({ context: { service, severity, room, verdict } }) =>
    verdict === 'false alarm'
      ? `${service}: a false alarm.`
      : `${service} is taken care of in ${room}, severity ${severity}.`,
});
