export * from '../../../../examples/payment-webhook/saga.ts';
