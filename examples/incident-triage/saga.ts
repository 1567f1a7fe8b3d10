import { machineSaga } from '@mcp-saga/xstate';
import { z } from 'zod';
import { triage } from './machine.ts';

/** The machine as a tool. */
export const triageIncident = machineSaga(
  {
    name: 'triage_incident',
    version: '1',
    description: 'Opens a room for an incident, and finds out who takes it and how severe it is',
    input: z.object({ service: z.string(), symptom: z.string() }),
    // An older token can close a room again and fail over at most once, which does no harm.
    reuse: 'ok',
  },
  triage,
);
