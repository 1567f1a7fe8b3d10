export * from '../bank.ts';
