import { bundleForNode, bundleWorker, type Bundle } from './bundle.ts';
import { bun, deno, node, type Runtime } from './runtime.ts';
import { workerd, workerdArgs, workerdPort } from './workerd.ts';

/** A runtime, and how it runs the server of the suite. */
export interface Runner extends Runtime {
  readonly args: readonly string[];
  /** Reads the port in what it prints. */
  readonly port: RegExp;
  /** Makes one file of the server, for a runtime that does not read its source. */
  readonly bundle?: () => Promise<Bundle>;
  /** How its tokens are sealed: `fast` where it has what that needs of `node:crypto`. */
  readonly sealing: 'fast' | 'portable';
}

const source = 'test/runtimes/server/listen.ts';
const port = /^Serves at http:\/\/127\.0\.0\.1:(\d+)\//;

/** Every runtime there is to run on. Another one is another entry, and nothing else. */
export const runners: readonly Runner[] = [
  {
    // The first release there is of Node 20: it has no process.getBuiltinModule.
    ...node('20.0.0'),
    args: ['listen.mjs'],
    port,
    bundle: () => bundleForNode('server/listen.ts'),
    sealing: 'portable',
  },
  { ...node('22.23.3'), args: [source], port, sealing: 'fast' },
  { ...node('24.21.0'), args: [source], port, sealing: 'fast' },
  { ...node('26.10.0'), args: [source], port, sealing: 'fast' },
  { ...bun('1.4.5'), args: [source], port, sealing: 'fast' },
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
    port,
    sealing: 'fast',
  },
  {
    ...workerd,
    args: workerdArgs('default'),
    port: workerdPort,
    bundle: () => bundleWorker('server/worker.ts'),
    sealing: 'fast',
  },
  {
    // The web platform alone: workers of an older compatibility date are so.
    ...workerd,
    name: 'workerd without Node',
    args: workerdArgs('bare'),
    port: workerdPort,
    bundle: () => bundleWorker('server/worker.ts'),
    sealing: 'portable',
  },
];
