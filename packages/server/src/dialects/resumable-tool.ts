import type { ListedTool } from '../model/client-call.ts';

const resumeToken = {
  type: 'string',
  description:
    'Leave it out of the first call. Where a result says that the call is not finished, call again with the same ' +
    'arguments and with the resumeToken of that result, copied exactly.',
};

// A string: clients with strict schemas reject free-form objects. Objects are accepted, too.
const answers = {
  type: 'string',
  description:
    'Only together with resumeToken: the answers that the last result asks for, as a string of JSON: an object by step. ' +
    'Each answer is {"action": "accept", "content": {…}} or {"action": "decline"}; for a message that you were asked to ' +
    'write, a string.',
};

/** Lists a tool without its output schema: an unfinished call has no structured result, and clients would reject it. */
export function toResumable(tool: ListedTool, takesAnswers: boolean): ListedTool {
  const { outputSchema: _promised, ...listed } = tool;
  const more = takesAnswers ? { resumeToken, answers } : { resumeToken };
  return { ...listed, inputSchema: { ...closed(tool.inputSchema, more), ...added(tool.inputSchema, more) } };
}

type JsonSchema = { readonly [key: string]: unknown };

function added({ properties }: JsonSchema, more: object): JsonSchema {
  return { properties: { ...(properties as object | undefined), ...more } };
}

/** A schema whose parts that allow no other fields allow these: one part that does not would refuse them for all. */
function closed(schema: JsonSchema, more: object): JsonSchema {
  const parts = partsOf(schema).map(([key, branches]) => [
    key,
    branches.map((branch) => ({
      ...closed(branch, more),
      ...(branch['additionalProperties'] === false ? added(branch, more) : {}),
    })),
  ]);
  return { ...schema, ...(Object.fromEntries(parts) as JsonSchema) };
}

function partsOf(schema: JsonSchema): readonly (readonly [string, readonly JsonSchema[]])[] {
  return ['anyOf', 'oneOf', 'allOf'].flatMap((key) =>
    Array.isArray(schema[key]) ? [[key, schema[key] as readonly JsonSchema[]] as const] : [],
  );
}
