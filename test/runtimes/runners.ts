import { fileURLToPath } from 'node:url';
import { bundleForNode, bundlePage, bundleWorker, type Bundle } from './bundle.ts';
import { bun, chromium, deno, node, type Runtime } from './runtime.ts';
import { workerd, workerdArgs, workerdPort } from './workerd.ts';

/** A runtime, and the options to run the test server on it. */
export interface Runner extends Runtime {
  readonly args: readonly string[];
  /** Matches the port in the output. */
  readonly port: RegExp;
  /**
   * Node program that forwards requests to a runtime that cannot listen. Its arguments are the
   * executable and `args`.
   */
  readonly bridge?: string;
  /** Bundles the server, for a runtime that cannot run its source. */
  readonly bundle?: () => Promise<Bundle>;
  /** Sealing implementation: `fast` if the runtime has the required parts of `node:crypto`. */
  readonly sealing: 'fast' | 'portable';
}

const source = 'test/runtimes/server/listen.ts';
const port = /^Serves at http:\/\/127\.0\.0\.1:(\d+)\//;

/** A page in Chromium, which runs the server of a bundle. */
export const inChromium: Runner = {
  ...chromium,
  args: ['page.js'],
  bridge: fileURLToPath(new URL('bridge.ts', import.meta.url)),
  port,
  bundle: () => bundlePage('server/page.ts'),
  sealing: 'portable',
};

/** All tested runtimes. */
export const runners: readonly Runner[] = [
  {
    // First release of Node 20, which has no process.getBuiltinModule.
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
    // Web platform only, as in workers with an older compatibility date.
    ...workerd,
    name: 'workerd without Node',
    args: workerdArgs('bare'),
    port: workerdPort,
    bundle: () => bundleWorker('server/worker.ts'),
    sealing: 'portable',
  },
  inChromium,
];
