import { readFileSync } from 'node:fs';

const machine = readFileSync(new URL('../examples/machines/refund.ts', import.meta.url), 'utf8');

/** Saga that is a machine, with a script. Asks, pays back, and notifies. */
export const machineSaga = `${machine}
import { testSaga } from '@mcp-saga/testing';
export const script = testSaga(refund);
`;
