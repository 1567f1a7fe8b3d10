import { expect, test } from 'vitest';
import type { RawMessage } from '../fixtures/raw.ts';
import { called, sent } from '../fixtures/calling.ts';
import { reviewPrompt } from '../fixtures/prompts.ts';
import { deploys, comparedHost, send, ways } from '../fixtures/ways.ts';
import { handlerOf } from '../fixtures/rounds.ts';

const forms = { elicitation: {} };

test.each([
  ['a list', []],
  ['a text', '{}'],
  ['a number', 7],
  ['false', false],
])(
  '[T6] [T9] arguments that are %s cause an error that names them, beside a valid token',
  async (_, args) => {
    const ran: string[] = [];
    const server = comparedHost([deploys(ran), reviewPrompt()]);
    const expectNamed = ({ error }: RawMessage): void => {
      expect(error).toStrictEqual({
        code: -32_602,
        message: 'Invalid params: arguments: expected an object',
        data: { reason: 'invalid_params' },
      });
    };

    const requestState = await ways.find(({ name }) => name === 'multi round-trip')?.begin(server);
    const inRounds = { name: 'deploys', arguments: args, requestState };
    expectNamed((await send(server, 'tools/call', inRounds, { capabilities: forms })).last);

    const { token } = await called(handlerOf(server.host), 'modern', {
      name: 'deploys',
      arguments: {},
    });
    const byMeta = { name: 'deploys', arguments: args, _meta: { resumeToken: token } };
    expectNamed(await sent(handlerOf(server.host), 'modern', byMeta));

    expect(ran).toEqual(['build', 'build']);
    expect(server.told.errors).toEqual([]);
  },
);
