export * from '../../../../test/docs/guides/confirm.ts';
