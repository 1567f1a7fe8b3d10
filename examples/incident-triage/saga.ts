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
    // To go back and answer otherwise closes a room, or finds it closed, and fails over once at the most: no harm is done.
    forks: 'accept',
  },
  triage,
);
