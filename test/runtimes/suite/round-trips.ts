import { randomUUID } from 'node:crypto';
import { WireCut } from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';
import type { Fields } from '../../support/wire/channel.ts';
import type { Subject } from '../subject.ts';
import { accepted } from './answers.ts';
import { answers, expectOnce, orderSteps, orderText } from './order.ts';
import { ask, clientOf } from './wire.ts';
import { wireWays } from '../../support/wire/ways.ts';

/** Dialects that need no session. */
const stateless = wireWays.filter(
  ({ dialect, era }) =>
    dialect !== 'push' && !(dialect === 'resumable requests' && era === '2025-11-25'),
);

/** Every dialect, from the start of a saga to its end. */
export function roundTripsSuite(subject: Subject): void {
  describe('a round trip', () => {
    it.each(stateless)('[P1] [W1] [E1] by $dialect, $era, runs each step once', async (way) => {
      const label = randomUUID();
      const client = clientOf(() => subject.mcp(), way, answers);
      expect(await client.call('order', { label })).toMatchObject({
        content: [{ text: orderText }],
      });
      expectOnce(await subject.effects(label));
      const methods = new Set(client.exchanges.map(({ method }) => method));
      // Methods that are specific to the dialect.
      if (way.dialect === 'saga methods') expect(methods).toContain('tools/resumeSaga');
      if (way.dialect === 'tasks') expect(methods).toContain('tasks/update');
    });

    it.each([1, 2, 3, 4, 5])(
      '[P1] [W1] [E1] of a request that is cut at its token %i and resumed has one key for each step',
      async (cutAt) => {
        const label = randomUUID();
        let told = 0;
        const way = { dialect: 'resumable requests', era: '2026-07-28' } as const;
        const client = clientOf(
          () => subject.mcp(),
          way,
          answers,
          (method) => {
            if (method === 'notifications/requests/resumePolicy' && ++told === cutAt)
              throw new WireCut();
          },
        );
        expect(await client.call('order', { label })).toMatchObject({
          content: [{ text: orderText }],
        });
        expect(client.exchanges.map(({ method }) => method)).toContain('requests/resume');
        const keys = new Map(
          (await subject.effects(label)).map(({ what, idempotencyKey }) => [idempotencyKey, what]),
        );
        expect([...keys.values()].toSorted()).toEqual(orderSteps);
      },
    );

    it.each([
      ['a prompt', 'prompts/get', 'greeting', { messages: [{ content: { text: 'Hello, here' } }] }],
      ['a resource', 'resources/read', 'page', { contents: [{ text: 'A page of here' }] }],
    ])('[P1] [W1] [E1] of %s runs its step once', async (_, method, name, result) => {
      const label = randomUUID();
      const params: Fields =
        name === 'page' ? { uri: `pages://${label}` } : { name, arguments: { label } };
      const { result: asked } = await ask(subject.mcp(), method, params);
      expect(asked).toMatchObject({
        resultType: 'input_required',
        inputRequests: { place: { method: 'elicitation/create', params: { message: 'Where?' } } },
      });
      const { requestState } = asked ?? {};
      const more = { requestState, inputResponses: { place: accepted({ place: 'here' }) } };
      expect((await ask(subject.mcp(), method, { ...params, ...more })).result).toMatchObject(
        result,
      );
      expect((await subject.effects(label)).map(({ what }) => what)).toEqual(['look']);
    });
  });
}
