import { createSagaHost, elicit, memoryTaskStore, saga, sample, type SagaHost } from '@mcp-saga/server';
import * as z from 'zod';
import { askOwnModel } from './own-model.ts';

// #region saga
const Team = z.object({ team: z.enum(['billing', 'support']) });

export const triage = saga(
  { name: 'triage', version: '1', input: z.object({ ticket: z.string() }) },
  function* ({ ticket }) {
    const verdict = yield* sample('urgency', {
      messages: [{ role: 'user', content: { type: 'text', text: `Urgent or normal? ${ticket}` } }],
      maxTokens: 10,
    });
    // Where nobody can be asked, the fallback holds; without one, the saga hears of it here: ClientCannot.
    const { team } = yield* elicit('team', {
      message: 'Which team gets it?',
      schema: Team,
      fallback: { team: 'support' },
    });
    return `${verdict.content.type === 'text' ? verdict.content.text : 'normal'}, goes to ${team}`;
  },
);
// #endregion saga

/** A host that makes up for what its clients lack. */
export function lenientHost(keys: string): SagaHost {
  // #region host
  const host = createSagaHost({
    sagas: [triage],
    keys,
    audience: 'helpdesk',
    answers: {
      sampling: (params, { signal }) => askOwnModel(params, signal), // if the client offers no model
      model: 'accept', // the model that calls the tool may answer for its user; sealed as a model's answer
      order: { elicitation: ['client', 'fallback', 'model'] },
    },
    tasks: { store: memoryTaskStore(), bearer: 'accept' }, // sagas with task: 'prefer' go on behind the answer
  });
  // #endregion host
  return host;
}
