import { serveRequests } from '../../engine/serve-requests.ts';
import { runMachine } from './run-machine.ts';

serveRequests(runMachine);
