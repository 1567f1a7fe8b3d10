import { saga } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { served } from '../fixtures/calling.ts';
import { post, read } from '../fixtures/raw.ts';

const Input = z.object({
  region: z.string().meta({ 'x-mcp-header': 'Region' }).optional(),
  order: z.object({ count: z.number().int().meta({ 'x-mcp-header': 'Count' }) }).optional(),
  isDry: z.boolean().meta({ 'x-mcp-header': 'Dry' }).optional(),
});

const ran: unknown[] = [];
const tool = saga({ name: 'tool', version: '1', input: Input }, function* (input) {
  ran.push(input);
  yield* [];
  return 'done';
});

const encoded = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;
const all = { region: 'eu', order: { count: 42 }, isDry: true };

describe.each(['tools/call', 'tools/callSaga'])('%s', (method) => {
  const { server } = served([tool]);
  const send = async (args: object, headers: Record<string, string>) => {
    const params = { name: 'tool', arguments: args };
    const request = post('modern', method, params, 1, {
      headers: { 'mcp-name': 'tool', ...headers },
    });
    return (await read(await server.fetch(request))).last;
  };

  test.each([
    ['no arguments', {}, { 'mcp-param-region': 'eu' }],
    [
      'the same values',
      all,
      { 'mcp-param-region': 'eu', 'mcp-param-count': '42', 'mcp-param-dry': 'true' },
    ],
    ['an equal number', { order: { count: 42 } }, { 'mcp-param-count': '42.0' }],
    ['base64', { region: 'Zürich' }, { 'mcp-param-region': encoded('Zürich') }],
  ])('[W1] accepts Mcp-Param headers with %s', async (_, args, headers) => {
    expect(await send(args, headers)).toMatchObject({ result: { content: [{ text: 'done' }] } });
  });

  test.each([
    ['another value', { region: 'eu' }, { 'mcp-param-region': 'us' }],
    ['no value', { region: 'eu' }, {}],
    ['another number', { order: { count: 42 } }, { 'mcp-param-count': '43' }],
    ['a number in other words', { order: { count: 42 } }, { 'mcp-param-count': '0x2a' }],
    ['another boolean', { isDry: true }, { 'mcp-param-dry': 'false' }],
    ['base64 of another value', { region: 'eu' }, { 'mcp-param-region': encoded('us') }],
    ['bad base64', { region: 'eu' }, { 'mcp-param-region': '=?base64?***?=' }],
    ['bytes that are no text', { region: 'eu' }, { 'mcp-param-region': '=?base64?/w==?=' }],
  ])('[W1] refuses Mcp-Param headers with %s', async (_, args, headers) => {
    ran.length = 0;
    expect(await send(args, headers)).toMatchObject({
      error: {
        code: -32_020,
        data: { mismatch: { header: expect.stringMatching(/^Mcp-Param-/) as string } },
      },
    });
    expect(ran).toEqual([]);
  });
});
