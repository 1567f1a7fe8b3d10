import { textOf, type ModelApi, type Reply } from './conversation.ts';

interface GenerateBody {
  readonly contents?: readonly { readonly parts?: readonly Part[] }[];
  readonly tools?: readonly { readonly functionDeclarations?: readonly Declaration[] }[];
}

interface Part {
  readonly functionResponse?: {
    readonly response?: { readonly output?: unknown; readonly error?: unknown };
  };
}

interface Declaration {
  readonly name: string;
  readonly parameters?: object;
  readonly parametersJsonSchema?: object;
}

/** The `generateContent` API of Gemini. */
export const gemini: ModelApi = {
  matches: (path) => /:(stream)?generateContent/i.test(path),
  read: (body, path) => {
    const { contents = [], tools = [] } = body as GenerateBody;
    const parts = contents.flatMap((content) => content.parts ?? []);
    return {
      tools: tools
        .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
        .map(({ name, parameters, parametersJsonSchema }) => ({
          name,
          parameters: parametersJsonSchema ?? parameters ?? {},
        })),
      results: parts.flatMap(({ functionResponse }) => {
        if (functionResponse === undefined) return [];
        const { response = {} } = functionResponse;
        return [textOf(response.output ?? response.error ?? JSON.stringify(response))];
      }),
      read: JSON.stringify(contents),
      isStreamed: path.includes(':streamGenerateContent'),
    };
  },
  whole: (reply, model) => ({
    candidates: [
      { index: 0, content: { role: 'model', parts: [partOf(reply)] }, finishReason: 'STOP' },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
    modelVersion: model,
  }),
  events: (reply, model) => [{ data: gemini.whole(reply, model) }],
};

function partOf(reply: Reply): object {
  if (reply.kind === 'text') return { text: reply.text };
  return { functionCall: { name: reply.tool.name, args: reply.args } };
}
