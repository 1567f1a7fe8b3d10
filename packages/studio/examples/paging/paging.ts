export * from '../../../../test/docs/guides/paging.ts';
