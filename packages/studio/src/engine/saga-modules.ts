export * as sagas from '@mcp-saga/xstate';
export * as xstate from 'xstate';
export { watchMachines } from './machines.ts';
