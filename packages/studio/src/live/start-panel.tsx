import { simplestContent, type Field, type Form } from '@mcp-saga/testing/internal';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { QuestionForm } from '../parts/question-form.tsx';
import type { LiveStore } from './live-store.ts';
import type { Tool } from './mcp-client.ts';

/** Served sagas, each with a form of its arguments. */
export function StartPanel({ store }: { readonly store: LiveStore }): JSX.Element {
  return (
    <section class="start" aria-label="Start a saga">
      <h2>Start a saga</h2>
      {store.tools.value.map((tool, index) => (
        <details key={tool.name} name="tools" open={index === 0 && store.tools.value.length === 1}>
          <summary>{tool.name}</summary>
          {tool.description !== undefined && <p>{tool.description}</p>}
          <Arguments
            key={JSON.stringify(tool.inputSchema)}
            tool={tool}
            onStart={(args) => void store.start(tool.name, args)}
          />
        </details>
      ))}
      <details class="access">
        <summary>Access token</summary>
        <label>
          Token for a server with users
          <input
            value={store.bearer.value}
            autocomplete="off"
            onChange={({ currentTarget }) => {
              store.bearer.value = currentTarget.value.trim();
              void store.loadTools();
            }}
          />
        </label>
      </details>
    </section>
  );
}

type ArgumentsProps = { readonly tool: Tool; readonly onStart: (args: object) => void };

function Arguments({ tool, onStart }: ArgumentsProps): JSX.Element {
  const problem = useSignal<string | undefined>(undefined);
  const { properties = {}, required = [] } = tool.inputSchema;
  // Clients without forms resume by these arguments.
  const added = 'resumeToken' in properties ? ['resumeToken', 'answers'] : [];
  const own = Object.entries(properties).filter(([name]) => !added.includes(name));
  const fields = Object.fromEntries(own) as Readonly<Record<string, Field>>;
  const isFlat = Object.values(fields).every(({ type }) => /^(?:string|number|integer|boolean)$/.test(type));
  const json: Form = { properties: { json: { type: 'string', title: 'Arguments as JSON' } }, required: [] };
  const form = isFlat ? { properties: fields, required } : json;
  const start = (content: unknown): void => {
    try {
      onStart((isFlat ? content : JSON.parse((content as { readonly json: string }).json)) as object);
      problem.value = undefined;
    } catch (error) {
      problem.value = (error as Error).message;
    }
  };
  const question = { id: tool.name, type: 'call', message: '', reason: problem.value };
  return (
    <QuestionForm
      question={{
        ...question,
        fields: form.properties,
        content: isFlat ? simplestContent(form) : { json: '{}' },
      }}
      accept="Start"
      onAnswer={({ content }) => start(content)}
    />
  );
}
