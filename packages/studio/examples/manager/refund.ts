export * from '../../../../test/docs/tutorial/decide/refund.ts';
