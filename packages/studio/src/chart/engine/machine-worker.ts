import type { MachineReply, MachineRequest } from '../model/machine-view.ts';
import { runMachine } from './run-machine.ts';

const reply = (
  message: MachineReply | { readonly type: 'done' } | { readonly type: 'failed'; message: string },
): void =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no origin
  globalThis.postMessage(message);

addEventListener('message', ({ data: { files, session } }: MessageEvent<MachineRequest>) => {
  void runMachine(files, session)
    .then((view) => {
      reply({ type: 'view', view });
      reply({ type: 'done' });
    })
    .catch((error: unknown) => reply({ type: 'failed', message: String(error) }));
});
