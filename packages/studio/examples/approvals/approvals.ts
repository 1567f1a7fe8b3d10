export * from '../../../../test/docs/guides/approvals.ts';
