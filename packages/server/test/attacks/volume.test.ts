import type { Json } from '@mcp-saga/server';
import { elicit, saga, step, type Saga } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { accepted } from '../fixtures/rounds.ts';
import { deep, deploys, comparedHost, ways } from '../fixtures/ways.ts';

/** Counts how often its schemas are asked. */
function counted(asked: string[]): Saga<never, undefined> {
  const text = (what: string): z.ZodString =>
    z.string().refine(() => {
      asked.push(what);
      return true;
    });
  const input = z.object({ service: text('input').optional() });
  return saga({ name: 'deploys', version: '1', input, task: 'prefer' }, function* () {
    yield* step('build', () => undefined);
    const { target } = yield* elicit('target', {
      message: 'Where?',
      schema: z.object({ target: text('answer') }),
    });
    yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
    return target;
  }) as never;
}

describe.each(ways)('in $name', (way) => {
  test('[T11] a hundred thousand answers are counted before any is read', async () => {
    const asked: string[] = [];
    const server = comparedHost([counted(asked)]);
    const token = await way.begin(server);
    const many = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, index) => [`s${index}`, {}]),
    );
    const { last } = await way.goOn(server, token, many);
    // A request that is resumed has no answers.
    if (way.name === 'resumable requests')
      expect(last.error?.message).toMatch(/^Input is required/);
    else if (way.name === 'resume token') {
      // A model can correct itself only if it sees the question again.
      expect(last.result).toMatchObject({ isError: true });
      expect(JSON.stringify(last.result)).toMatch(/more than 2000.*Step /);
    } else {
      expect(last.error).toMatchObject({ code: -32_602, data: { reason: 'invalid_params' } });
      expect(last.error?.message).toMatch(/more than 2000/);
      expect(last.error?.message.length).toBeLessThan(200);
    }
    expect(asked).toEqual([]);
    expect(server.told.ignored).toEqual([]);
    expect(server.told.errors).toEqual([]);
  });

  test('[T11] arguments and answers a hundred thousand levels deep are refused', async () => {
    const ran: string[] = [];
    const server = comparedHost([deploys(ran)]);
    // Sizes are checked before forms.
    await expect(way.begin(server, { service: deep })).rejects.toThrow('more than 65536 bytes');
    const nested = JSON.parse('['.repeat(100) + ']'.repeat(100)) as Json;
    await expect(way.begin(server, { service: nested })).rejects.toThrow(
      'nested deeper than 64 levels',
    );
    expect(ran).toEqual([]);
    const token = await way.begin(server);
    const { last } = await way.goOn(server, token, { target: accepted({ target: deep }) });
    const told = last.error?.message ?? JSON.stringify(last.result?.['content']);
    // A request that is resumed has no answers.
    if (way.name !== 'resumable requests')
      expect(told).toMatch(/nested deeper than 64 levels("|$)/);
    if (way.name !== 'resume token') expect(told.length).toBeLessThan(1000);
    expect(ran.every((what) => what === 'build')).toBe(true);
    expect(server.told.errors).toEqual([]);
  });

  test('[T11] an answer over the token limit costs nothing, because no schema parses it', async () => {
    const asked: string[] = [];
    const server = comparedHost([counted(asked)]);
    const token = await way.begin(server);
    await way.goOn(server, token, { target: accepted({ target: 'x'.repeat(300_000) }) });
    expect(asked).toEqual([]);
    expect(server.told.errors).toEqual([]);
    expect(server.told.turns.map(({ status }) => status)).not.toContain('failed');
  });

  test('[T11] arguments over the token limit are refused with a message before a schema parses them', async () => {
    const asked: string[] = [];
    const server = comparedHost([counted(asked)]);
    const begun = way.begin(server, { service: 'x'.repeat(65_536) });
    await expect(begun).rejects.toThrow('arguments: more than 65536 bytes');
    expect(asked).toEqual([]);
    expect(server.told.errors).toEqual([]);
  });

  test('[T6] [T11] a schema parses each value once, and never for a token that does not open', async () => {
    const asked: string[] = [];
    const server = comparedHost([counted(asked)]);
    const args = { service: 'shop' };
    const token = await way.begin(server, args);
    expect(asked).toEqual(['input']);
    const answers = { target: accepted({ target: 'x' }) };
    const wrong = token.replace(/.{4}$/, 'AAAA');
    await way.goOn(server, wrong, answers, { args });
    await way.goOn(server, token, answers, { args: { service: 'other' }, user: 'eve' });
    expect(asked).toEqual(['input']);
    await way.goOn(server, token, answers, { args });
    if (way.name !== 'resumable requests') expect(asked).toEqual(['input', 'answer']);
    // No schema parses an answer to an unknown question.
    await way.goOn(server, token, { nobody: accepted({ target: 'x' }) }, { args });
    expect(asked.filter((what) => what === 'input')).toHaveLength(1);
    expect(asked.length).toBeLessThan(3);
  });
});
