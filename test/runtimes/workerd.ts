import { workerd as ofVersion, type Runtime } from './runtime.ts';

/** workerd, as the tests use it. */
export const workerd: Runtime = ofVersion('1.20261117.1');

/** How it serves a worker that `bundleWorker` made: it reports its port on the third pipe. */
export const workerdArgs: readonly string[] = ['serve', 'worker.capnp', '--control-fd=3'];

/** The port in its report. */
export const workerdPort: RegExp = /"event":"listen".*"port":(\d+)/;
