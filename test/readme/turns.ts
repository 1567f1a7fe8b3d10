import { createSagaHost } from '@mcp-saga/server';
import { deploy } from './deploy.ts';

/** Takes the turns of a saga by hand, each on another host that shares nothing but the key. */
export async function takeTurns(keys: string): Promise<unknown> {
  // #region turns
  const a = createSagaHost({ sagas: [deploy], keys, name: 'deployer' });
  const b = createSagaHost({ sagas: [deploy], keys, name: 'deployer' });

  let turn = await a.start('deploy', { service: 'web' });
  if (turn.status !== 'suspended') return turn;
  console.log(turn.steps[0]?.params['message']); // Where shall web go?

  turn = await b.resume(turn.token, [
    { stepId: 'target', result: { action: 'accept', content: { target: 'production' } } },
  ]);
  if (turn.status !== 'suspended') return turn;

  const answer = {
    role: 'assistant',
    model: 'any',
    content: { type: 'text', text: 'Yes, all is green' },
  };
  return await a.resume(turn.token, [{ stepId: 'safety', result: answer }]);
  // { status: 'completed', result: 'Released web-production-1 to production.', … }
  // #endregion turns
}
