import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { generateKey } from '@mcp-saga/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServerProcess, startServer } from '../../examples/run-server/index.ts';
import { post } from '../support/json-rpc.ts';
import { type Bundle, bundleServer, bundleWorker } from './bundle.ts';
import { bun, deno, node, type Runtime } from './runtime.ts';
import { type Serving, startServing } from './serving.ts';
import { workerd, workerdArgs, workerdPort } from './workerd.ts';

const quickstart = new URL('../../examples/quickstart/', import.meta.url);
const source = 'examples/quickstart/server.ts';
const ownLine = /^MCP is served at http:\/\/127\.0\.0\.1:(\d+)\/mcp$/;

/** A runtime, and how it runs the quickstart's server: as it is in the source, where it reads TypeScript. */
interface Runner extends Runtime {
  readonly args: readonly string[];
  readonly port: RegExp;
  readonly bundle?: () => Promise<Bundle>;
}

const runners: readonly Runner[] = [
  // The first release there is of Node 20 has no process.getBuiltinModule: its tokens are sealed the portable way.
  { ...node('20.0.0'), args: ['server.mjs'], port: ownLine, bundle: bundleServer },
  { ...node('22.23.3'), args: [source], port: ownLine },
  { ...node('24.21.0'), args: [source], port: ownLine },
  { ...node('26.10.0'), args: [source], port: ownLine },
  { ...bun('1.4.5'), args: [source], port: ownLine },
  {
    ...deno('2.9.6'),
    args: [
      'run',
      '--node-modules-dir=manual',
      '--allow-net=127.0.0.1',
      '--allow-env',
      '--allow-read',
      source,
    ],
    port: ownLine,
  },
  {
    ...workerd,
    args: workerdArgs,
    port: workerdPort,
    bundle: () => bundleWorker('worker.ts'),
  },
];

// Long enough for a runtime to be downloaded.
const startTimeout = 300_000;

const answers = {
  elicitation: {
    stepId: 'step-elicitation-A',
    result: { action: 'accept', content: { target: 'production' } },
  },
  sampling: {
    stepId: 'step-sampling-B',
    result: {
      role: 'assistant',
      content: { type: 'text', text: 'Yes, all systems are green.' },
      model: 'client-side-llm-v2',
    },
  },
};

const done = [
  { type: 'text', text: 'Deployment to production initiated successfully based on confirmation.' },
];

/** Calls the saga. */
async function call({ url }: { readonly url: URL }): Promise<string> {
  const params = { name: 'complex_tool', arguments: { initial_arg: 'value' } };
  const { result } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/callSaga', params });
  return result?.['sagaToken'] as string;
}

/** Resumes the saga, and gives the whole answer. */
async function resume(
  { url }: { readonly url: URL },
  sagaToken: string,
  ...completedSteps: readonly object[]
) {
  const params = { sagaToken, completedSteps };
  return await post(url, { jsonrpc: '2.0', id: 2, method: 'tools/resumeSaga', params });
}

describe('the quickstart on other runtimes', () => {
  const keys = generateKey();
  /** The runtime the tests run on. */
  let here: ServerProcess;

  beforeAll(async () => {
    here = await startServer('here', { folder: quickstart, environment: { SAGA_KEYS: keys } });
  });
  afterAll(async () => {
    await here.stop();
  });

  describe.each(runners)(
    '$name $version',
    ({ executable, versionFlag, version, name, args, port, bundle }) => {
      let there: Serving;
      let bundled: Bundle | undefined;

      beforeAll(async () => {
        bundled = await bundle?.();
        const cwd = bundled === undefined ? {} : { cwd: bundled.folder };
        there = await startServing({ executable: await executable(), args, keys, port, ...cwd });
      }, startTimeout);
      afterAll(async () => {
        await there?.stop();
        await bundled?.remove();
      });

      it('is the version that is meant', async () => {
        const { stdout } = await promisify(execFile)(await executable(), [versionFlag]);
        // workerd says only the date that its version is made of.
        const said =
          name === 'workerd' ? version.replace(/^1\.(\d{4})(\d\d)(\d\d)\.\d+$/, '$1-$2-$3') : version;
        expect(stdout).toContain(said);
      });

      it('[P1] serves a saga from its start to its end', async () => {
        const first = await call(there);
        const two = await resume(there, first, answers.elicitation);
        expect(two.result).toMatchObject({
          state: 'suspended',
          steps: [{ type: 'sampling', stepId: 'step-sampling-B' }],
        });
        const second = two.result?.['sagaToken'] as string;
        const three = await resume(there, second, answers.elicitation, answers.sampling);
        expect(three.result).toMatchObject({ content: done });
      });

      it('[P1] refuses a token that was tampered with', async () => {
        const token = await call(there);
        const middle = Math.floor(token.length / 2);
        const tampered = `${token.slice(0, middle)}${token[middle] === 'A' ? 'B' : 'A'}${token.slice(middle + 1)}`;
        expect(await resume(there, tampered, answers.elicitation)).toStrictEqual({
          jsonrpc: '2.0',
          id: 2,
          error: {
            code: -32602,
            message: 'Invalid or expired sagaToken',
            data: { reason: 'invalid_saga_token' },
          },
        });
      });

      it('[P1, P2] goes on with what this Node has sealed, and this Node with what it has sealed', async () => {
        const first = await call(here);
        const two = await resume(there, first, answers.elicitation);
        const three = await resume(here, two.result?.['sagaToken'] as string, answers.sampling);
        expect(three.result).toMatchObject({ content: done });
      });

      it('[P1, P2] ends what it has begun and this Node has continued', async () => {
        const first = await call(there);
        const two = await resume(here, first, answers.elicitation);
        const three = await resume(there, two.result?.['sagaToken'] as string, answers.sampling);
        expect(three.result).toMatchObject({ content: done });
      });
    },
  );
});
