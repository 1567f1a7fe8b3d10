export * from '../../../../examples/provision/saga.ts';
