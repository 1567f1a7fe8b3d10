export * from '../../../../test/docs/front/bank.ts';
