import type { Scenario } from '../scenarios.ts';
import type { Conversation, ModelTool, Reply } from './conversation.ts';

// Final reply of the scripted model: the host has nothing more to do.
const farewell = 'The tool call has ended.';

// Maximum number of calls before the scripted model gives up.
const mostCalls = 400;

/**
 * Decides the next reply of the scripted model: call the scenario's tool, call again while a result
 * carries a token, answer the questions of that result, and stop.
 *
 * @returns undefined if the request does not offer the tool: hosts also ask their model for titles
 * and the like
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

/** Finds the token of an unfinished call in a result. Some hosts show results as JSON. */
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
