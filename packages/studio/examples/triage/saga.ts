export * from '../../../../examples/incident-triage/saga.ts';
