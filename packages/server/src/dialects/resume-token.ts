import { SagaHostError } from '../host/errors.ts';
import type { Dialect } from './dialect.ts';

/** Resume tokens, for clients that declare nothing. */
export const resumeToken: Dialect = {
  name: 'resume token',
  refused: { message: 'Invalid or expired resumeToken', reason: 'invalid_resume_token' },
  carries: () => false,
  serves: () => true,
  answer: async (host, call) => {
    const { saga, args, method, caller, client } = call;
    const turn = await host.start(saga.name, args, caller, { method, traits: { asks: client.asks } });
    if (turn.status === 'suspended') throw new SagaHostError('invalid_params', 'not yet');
    return call.toResult(turn);
  },
};
