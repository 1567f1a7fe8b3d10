import type { Example } from '../../src/model/session.ts';

export declare const first: Example;
