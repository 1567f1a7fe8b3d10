import { createSagaHost, elicit, memoryStore, saga, sample, type SagaHost } from '@mcp-saga/server';
import * as z from 'zod';
import { askOwnModel } from './own-model.ts';

// #region saga
const Team = z.object({ team: z.enum(['billing', 'support']) });

export const triage = saga(
  {
    name: 'triage',
    version: '1',
    input: z.object({ ticket: z.string() }),
    answeredBy: ['client', 'fallback', 'model'],
  },
  function* ({ ticket }) {
    const verdict = yield* sample('urgency', {
      messages: [{ role: 'user', content: { type: 'text', text: `Urgent or normal? ${ticket}` } }],
      maxTokens: 10,
    });
    // Without elicitation, the fallback applies. Without a fallback, this line throws ClientCannot.
    const { team } = yield* elicit('team', {
      message: 'Which team gets it?',
      schema: Team,
      fallback: { team: 'support' },
    });
    return `${verdict.content.type === 'text' ? verdict.content.text : 'normal'}, goes to ${team}`;
  },
);
// #endregion saga

/** A host with a model and fallbacks for clients without the capability. */
export function lenientHost(keys: string): SagaHost {
  // #region host
  const host = createSagaHost({
    sagas: [triage],
    keys,
    name: 'helpdesk',
    answerers: {
      sampling: (params, { signal }) => askOwnModel(params, signal), // for clients without sampling
      model: 'accept', // the model that calls the tool may answer for its user
    },
    store: memoryStore(),
    anonymous: { tasks: 'accept' }, // sagas with task: 'prefer' run after the response
  });
  // #endregion host
  return host;
}
