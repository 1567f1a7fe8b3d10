import { Input } from '../tool.ts';
import { serveByHand } from './serve-by-hand.ts';

// The SDK derives the JSON Schema of a tool again in each server. This schema derives it once.
const standard = Input['~standard'];
const derived = new Map<string, Record<string, unknown>>();
const jsonSchema = {
  ...standard.jsonSchema,
  input: (options: { readonly target: string }) => {
    const known = derived.get(options.target);
    if (known !== undefined) return known;
    const made = standard.jsonSchema.input(options);
    derived.set(options.target, made);
    return made;
  },
};
await serveByHand({ '~standard': { ...standard, jsonSchema } } as unknown as typeof Input);
