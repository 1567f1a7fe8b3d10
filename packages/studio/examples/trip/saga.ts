export * from '../../../../examples/book-trip/saga.ts';
