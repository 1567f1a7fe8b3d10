import { workerd as ofVersion, type Runtime } from './runtime.ts';

/** workerd, as the tests use it. */
export const workerd: Runtime = ofVersion('1.20261117.1');

/**
 * How it serves a worker that `bundleWorker` made: it reports its port on the third pipe. `bare` leaves the worker the
 * web platform only; by `default` it has much of Node as well.
 */
export function workerdArgs(config: 'bare' | 'default'): readonly string[] {
  return ['serve', 'worker.capnp', config, '--control-fd=3'];
}

/** The port in its report. */
export const workerdPort: RegExp = /"event":"listen".*"port":(\d+)/;
