export * from '../../../../test/docs/tutorial/bank.ts';
