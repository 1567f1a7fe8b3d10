import { workerd as ofVersion, type Runtime } from './runtime.ts';

/** workerd, in the version that the tests use. */
export const workerd: Runtime = ofVersion('1.20261117.1');

/**
 * Arguments that serve a worker of `bundleWorker`. workerd reports its port on the third pipe.
 * `bare` provides only the web platform, and `default` adds many Node APIs.
 */
export function workerdArgs(config: 'bare' | 'default'): readonly string[] {
  return ['serve', 'worker.capnp', config, '--control-fd=3'];
}

/** Matches the port in that report. */
export const workerdPort: RegExp = /"event":"listen".*"port":(\d+)/;
