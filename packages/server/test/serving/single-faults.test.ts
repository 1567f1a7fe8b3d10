import { elicit, saga, step } from '@mcp-saga/server';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { bothServers, type BothServers } from '../fixtures/both-servers.ts';
import { prefix, toMessage, toRequest, toSent, type Message, type Sent } from '../fixtures/sent.ts';

const asks = saga(
  { name: 'asks', version: '1', input: z.object({ region: z.string().optional() }) },
  function* () {
    const { target } = yield* elicit('target', {
      message: 'Where?',
      schema: z.object({ target: z.string() }),
    });
    return target;
  },
);

const encoded = saga({ name: '=?base64?YXNrcw==?=', version: '1' }, function* () {
  return yield* step('take', () => 'encoded');
});

const region = saga(
  {
    name: 'region',
    version: '1',
    input: z.object({ region: z.string().optional().meta({ 'x-mcp-header': 'Region' }) }),
  },
  function* ({ region: given = 'none' }) {
    return yield* step('take', () => given);
  },
);

const forms = { elicitation: {} };
const answers = { target: { action: 'accept', content: { target: 'x' } } };

/** Requests that are answered directly. */
const requests: { readonly [name: string]: Message } = {
  'tools/call': toMessage(
    'tools/call',
    { name: 'asks', arguments: {}, inputResponses: answers },
    forms,
  ),
  'tools/callSaga': toMessage('tools/callSaga', { name: 'asks' }),
  'tools/resumeSaga': toMessage('tools/resumeSaga', { sagaToken: 'none' }),
  'tools/cancelSaga': toMessage('tools/cancelSaga', { sagaToken: 'none', reason: 'x' }),
};

// The SDK warns of the name of a tool in each server.
beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));
afterAll(() => vi.restoreAllMocks());

type Change = (message: Message) => Message;

const withField =
  (field: string, value: unknown): Change =>
  (message) => ({ ...message, [field]: value });

const withParam =
  (field: string, value: unknown): Change =>
  (message) => ({ ...message, params: { ...message.params, [field]: value } });

const withMeta =
  (field: string, value: unknown): Change =>
  (message) =>
    withParam('_meta', { ...message.params['_meta'], [field]: value })(message);

const withCapabilities = (value: unknown): Change => withMeta(`${prefix}clientCapabilities`, value);
const withClient = (value: unknown): Change => withMeta(`${prefix}clientInfo`, value);
const client = { name: 'raw', version: '1' };
const odd: readonly unknown[] = [undefined, null, 7, 'x', true, [], {}, '@infinite@'];
const deep = JSON.parse(`${'{"a":'.repeat(50)}1${'}'.repeat(50)}`) as object;

const changes: { readonly [what: string]: readonly Change[] } = {
  jsonrpc: odd.map((value) => withField('jsonrpc', value)),
  id: [...odd, '', 0, -1, 1.5, 2 ** 53].map((value) => withField('id', value)),
  method: odd.map((value) => withField('method', value)),
  params: odd.map((value) => withField('params', value)),
  'a field beside them': odd.map((value) => withField('extra', value)),
  'a result': [withField('result', {}), withField('error', { code: 1, message: '' })],
  name: [...odd, 'nobody', 'region', encoded.name].map((value) => withParam('name', value)),
  arguments: odd.map((value) => withParam('arguments', value)),
  token: odd.map((value) => withParam('sagaToken', value)),
  requestState: odd.map((value) => withParam('requestState', value)),
  inputResponses: [
    ...odd,
    ...odd.map((value) => ({ target: value })),
    { target: { method: 'x' } },
    { target: { result: {} } },
    { '@proto@': answers.target },
  ].map((value) => withParam('inputResponses', value)),
  _meta: odd.map((value) => withParam('_meta', value)),
  version: [...odd, '2025-11-25', '2027-01-01'].map((value) =>
    withMeta(`${prefix}protocolVersion`, value),
  ),
  client: [
    ...odd,
    ...['name', 'version', 'title', 'description', 'websiteUrl', 'icons', 'own'].flatMap((field) =>
      odd.map((value) => ({ ...client, [field]: value })),
    ),
  ].map(withClient),
  capabilities: [
    ...odd,
    ...['elicitation', 'sampling', 'roots', 'experimental', 'extensions', 'tasks', 'own'].flatMap(
      (field) => odd.flatMap((value) => [{ [field]: value }, { [field]: { own: value } }]),
    ),
    ...odd.flatMap((value) => [
      { elicitation: { form: value } },
      { elicitation: { url: value } },
      { elicitation: { form: { applyDefaults: value } } },
      { sampling: { context: value } },
      { sampling: { tools: value } },
      { roots: { listChanged: value } },
      { resumableRequests: value },
      { experimental: { resumableRequests: value } },
      { extensions: { [`${prefix}tasks`]: value } },
    ]),
    { own: deep },
    { elicitation: { form: { own: deep } } },
  ].map(withCapabilities),
  'a name of MCP in _meta': [
    'progressToken',
    `${prefix}logLevel`,
    `${prefix}related-task`,
    `${prefix}own`,
    'traceparent',
    'resumeToken',
  ].flatMap((key) => [...odd, 'info', { taskId: 'x' }].map((value) => withMeta(key, value))),
};

const headers: { readonly [name: string]: readonly (string | undefined)[] } = {
  'content-type': [
    undefined,
    '',
    'text/plain',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json, application/json',
  ],
  accept: [undefined, '', 'text/html', 'text/event-stream', 'application/json'],
  'mcp-protocol-version': [undefined, '', ' 2026-07-28 ', '2025-11-25', '2027-01-01'],
  'mcp-method': [undefined, '', ' tools/call ', 'tools/call', 'tools/callSaga', 'Tools/Call'],
  'mcp-name': [undefined, '', ' asks ', 'region', '=?base64?YXNrcw==?=', '=?base64?*?=', 'ASKS'],
  'mcp-param-region': ['eu', '=?base64?*?='],
  'content-length': [undefined, '', '0', 'x', '99999999'],
  'mcp-session-id': ['x'],
};

describe.each(Object.entries(requests))('%s', (_method, message) => {
  let both: BothServers;
  beforeAll(() => {
    both = bothServers({ sagas: [asks, encoded, region], answerers: { model: 'accept' } });
  });
  const ask = (sent: Sent) => both.ask(() => toRequest(sent));

  test('[W1] is answered directly', async () => {
    expect((await ask(toSent(message))).isDirect).toBe(true);
  });

  test.each(Object.entries(changes))(
    '[W1] gets the answer of the SDK with another %s',
    async (_, all) => {
      for (const change of all) await ask(toSent(change(message)));
    },
  );

  test.each(Object.entries(headers))(
    '[W1] gets the answer of the SDK with another header %s',
    async (name, all) => {
      const sent = toSent(message);
      for (const value of all) {
        const { [name]: _, ...others } = sent.headers;
        await ask({
          ...sent,
          headers: value === undefined ? others : { ...others, [name]: value },
        });
      }
    },
  );

  test.each(['GET', 'PUT', 'DELETE', 'OPTIONS'])(
    '[W1] gets the answer of the SDK by %s',
    async (verb) => {
      await ask({ ...toSent(message), verb });
    },
  );

  test('[W1] gets the answer of the SDK in a batch, cut off, or too long', async () => {
    const { body, ...rest } = toSent(message);
    for (const other of [
      `[${body}]`,
      body.slice(1),
      '',
      'null',
      '{}',
      body + ' '.repeat(5_000_000),
    ])
      await ask({
        ...rest,
        headers: { ...rest.headers, 'content-length': String(other.length) },
        body: other,
      });
  });

  test.each(['region', encoded.name])(
    '[W1] gets the answer of the SDK for the tool %j',
    async (name) => {
      const named = withParam('name', name)(withParam('arguments', { region: 'eu' })(message));
      for (const header of [undefined, 'eu', 'us'])
        await ask({
          ...toSent(named),
          headers: {
            ...toSent(named).headers,
            ...(header === undefined ? {} : { 'mcp-param-region': header }),
          },
        });
      expect(both.told.direct).toEqual(both.told.sdk);
    },
  );
});
