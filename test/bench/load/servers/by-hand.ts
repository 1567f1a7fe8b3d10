import { Input } from '../tool.ts';
import { serveByHand } from './serve-by-hand.ts';

await serveByHand(Input);
