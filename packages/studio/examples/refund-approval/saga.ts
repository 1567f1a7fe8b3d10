export * from '../../../../examples/refund-approval/saga.ts';
