import { createEngine } from './engine.ts';
import { evaluate } from './evaluate.ts';
import type { Evaluate } from './playground.ts';
import { serveRequests } from './serve-requests.ts';

serveRequests(createEngine(evaluate as Evaluate));
