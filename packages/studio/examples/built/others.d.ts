import type { Example } from '../../src/model/session.ts';

export { compile } from '../../src/engine/compile.ts';
export declare const others: readonly Example[];
