import type { CompiledFile } from '../model/session.ts';
import { Engine } from './engine.ts';
import { evaluate } from './evaluate.ts';
import { serveRequests } from './serve-requests.ts';

const engine = new Engine(
  async (...versions) => await evaluate(versions as readonly (readonly CompiledFile[])[]),
);

serveRequests(async (request, reply) => await engine.handle(request, reply));
