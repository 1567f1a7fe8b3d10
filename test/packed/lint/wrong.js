import { approval, saga, step } from '@mcp-saga/server';

export const deploy = saga({ name: 'deploy', version: '1' }, function* () {
  const decision = yield* approval('lead', {
    message: 'Deploy?',
    timeout: '1d',
    deliver: () => {},
  });
  if (!decision) return 'Not deployed.';
  step('tag', () => fetch('https://ci.example/tag'));
  yield* step('deploy', () => {
    fetch('https://ci.example/deploy');
  });
  return `Deployed at ${new Date().toISOString()}.`;
});
