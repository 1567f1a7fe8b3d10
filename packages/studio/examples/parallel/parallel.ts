export * from '../../../../test/docs/guides/parallel.ts';
