export * from '../../../../test/docs/front/refund.ts';
