import { elicit, sample, saga } from '@mcp-saga/server';
import { z } from 'zod';

const Team = z.object({ team: z.enum(['billing', 'support', 'security']) });

/**
 * Asks a model for the urgency of a ticket, and a person for the team, if the client offers both.
 */
export const triage = saga(
  {
    name: 'triage',
    version: '1',
    description: 'Finds out how urgent a ticket is and which team gets it',
    input: z.object({ ticket: z.string() }),
  },
  function* ({ ticket }) {
    const verdict = yield* sample('urgency', {
      messages: [
        {
          role: 'user',
          content: { type: 'text', text: `Answer with one word, 'urgent' or 'normal': ${ticket}` },
        },
      ],
      maxTokens: 10,
    });
    const urgency = verdict.content.type === 'text' ? verdict.content.text.toLowerCase() : 'normal';
    const { team } = yield* elicit('team', {
      message: `An ${urgency} ticket. Which team gets it?`,
      schema: Team,
      // For clients without elicitation.
      fallback: { team: 'support' },
    });
    return `The ticket is ${urgency} and goes to ${team}.`;
  },
);
