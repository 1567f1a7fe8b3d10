import { elicit, saga, SagaError } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { connections } from '../fixtures/connections.ts';
import { hostOf } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';

const extension = 'io.github.mcp-saga/saga';
const icons = [
  { src: 'https://example.com/ship.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'light' },
] as const;

describe.each(connections)('$name', ({ connect }) => {
  test('[W1] a saga is listed with its icons, annotations, and metadata', async () => {
    const ship = saga(
      {
        name: 'ship',
        version: '1',
        icons,
        annotations: { destructiveHint: true, openWorldHint: false },
        _meta: { 'com.example/team': { name: 'shipping' }, [extension]: 'never' },
      },
      function* () {
        yield* elicit('go', { message: 'Go?', schema: Empty });
        return '';
      },
    );
    const { client, close } = await connect(hostOf(ship).host);
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      {
        name: 'ship',
        icons,
        annotations: { destructiveHint: true, openWorldHint: false },
        _meta: {
          'com.example/team': { name: 'shipping' },
          [extension]: { methods: ['tools/callSaga', 'tools/resumeSaga'] },
        },
      },
    ]);
    await close();
  });
});

test.each([
  ['icons', 'https://example.com/ship.png'],
  ['icons', [{ src: 7 }]],
  ['_meta', 'text'],
  ['_meta', { run: () => undefined }],
  ['annotations', [true]],
])('[W1] %s: %j cannot be listed, and is refused when the saga is defined', (name, value) => {
  const options = { name: 'ship', version: '1', [name]: value } as {
    name: string;
    version: string;
  };
  expect(() => saga(options, () => nothing() as never)).toThrow(SagaError);
});

function* nothing(): Generator<never, string> {
  yield* [];
  return '';
}
