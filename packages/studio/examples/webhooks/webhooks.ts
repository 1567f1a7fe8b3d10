export * from '../../../../test/docs/guides/webhooks.ts';
