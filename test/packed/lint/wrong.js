import { saga, step } from '@mcp-saga/server';

export const deploy = saga({ name: 'deploy', version: '1' }, function* () {
  step('tag', () => fetch('https://ci.example/tag'));
  yield* step('deploy', () => {
    fetch('https://ci.example/deploy');
  });
  return `Deployed at ${new Date().toISOString()}.`;
});
