import { told, usual } from '../tool.ts';
import { serveAtOnce } from './serve-at-once.ts';

// The tool by hand for clients that cannot be asked: without questions, it has no state either.
await serveAtOnce((service) => told(service, usual.target, usual.from));
