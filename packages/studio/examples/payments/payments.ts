export * from '../../../../test/docs/guides/payments.ts';
