import { serveRequests } from '../../engine/serve-requests.ts';
import type { MachineReply, MachineRequest } from '../model/machine-view.ts';
import { runMachine } from './run-machine.ts';

serveRequests(async (request: MachineRequest, reply: (message: MachineReply) => void) =>
  reply({ type: 'view', view: await runMachine(request) }),
);
