export { compile } from '../../src/engine/compile.ts';

/** Examples that need the compiler. Vite inserts them. */
export const others = OTHER_EXAMPLES;
