import type { Scenario } from '../scenarios.ts';
import type { Conversation, ModelTool, Reply } from './conversation.ts';

// Last words of the scripted model: the host has nothing more to do.
const farewell = 'The tool call has ended.';

// After so many calls, the scripted model gives up.
const mostCalls = 400;

/**
 * Decides what the scripted model says next. It calls the scenario's tool, calls it again as long as a result asks for
 * that, answers what a result asks the model, and stops.
 *
 * @returns undefined if the request does not offer the tool: hosts also ask their model for titles and the like
 */
export function nextReply({ tools, results }: Conversation, scenario: Scenario): Reply | undefined {
  const tool = tools.find(({ name }) => name.endsWith(scenario.tool));
  if (tool === undefined) return undefined;
  const last = results.at(-1);
  if (last === undefined) return { kind: 'call', tool, args: {} };
  const token = tokenIn(last);
  if (token === undefined || results.length > mostCalls) return { kind: 'text', text: farewell };
  return { kind: 'call', tool, args: { resumeToken: token, ...answersTo(last, tool, scenario) } };
}

/** The token that a result tells the model to repeat, also in a result that a host shows as JSON. */
export function tokenIn(result: string): string | undefined {
  const patterns = [
    /exactly this:\s*(?:\\n)?\s*([\w.~-]{20,})/g,
    /"nextResumeToken\\?":\s*\\?"([\w.~-]{20,})/g,
  ];
  for (const pattern of patterns) {
    const found = [...result.matchAll(pattern)].at(-1)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

function answersTo(result: string, { parameters }: ModelTool, scenario: Scenario): object {
  const steps = [
    ...result.matchAll(/Step \\?"([^"\\]+)\\?", for (the user|you):((?:(?!(?:\\n|\n){2}).)*)/gs),
  ];
  if (steps.length === 0) return {};
  const answers = Object.fromEntries(
    steps.map(([, id = '', asked, question = '']) => [
      id,
      asked === 'you' ? 'Yes.' : scenario.answer(question),
    ]),
  );
  const isText = parameters.properties?.['answers']?.type === 'string';
  return { answers: isText ? JSON.stringify(answers) : answers };
}
