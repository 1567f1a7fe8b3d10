export * from '../../../../test/docs/tutorial/undo/refund.ts';
