import { simplestContent } from '@mcp-saga/testing/internal';
import type { JSX } from 'preact';
import { QuestionForm } from '../parts/question-form.tsx';
import { ConnectPanel } from './connect-panel.tsx';
import type { LiveStore } from './live-store.ts';
import type { Tool } from './mcp-client.ts';
import { TokenLens } from './opened-token.tsx';

export function StartPanel({ store }: { readonly store: LiveStore }): JSX.Element {
  const { value: tools } = store.tools;
  return (
    <section class="start" aria-label="Start a saga">
      <h2>Start a saga</h2>
      {tools.map((tool) => (
        <details key={tool.name} name="tools" open={tools.length === 1}>
          <summary>{tool.name}</summary>
          {tool.description !== undefined && <p>{tool.description}</p>}
          <ArgumentsForm key={JSON.stringify(tool.inputSchema)} store={store} tool={tool} />
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
      <ConnectPanel store={store} />
      <TokenLens store={store} />
    </section>
  );
}

type ArgumentsFormProps = { readonly store: LiveStore; readonly tool: Tool };

/**
 * Form with a field for each argument, or with all arguments as JSON if one of them is an object or
 * a list.
 */
function ArgumentsForm({
  store,
  tool: { name: id, inputSchema },
}: ArgumentsFormProps): JSX.Element {
  const { properties = {}, required = [] } = inputSchema;
  // Clients without forms resume by these arguments.
  const added = 'resumeToken' in properties ? ['resumeToken', 'answers'] : [];
  const own = Object.entries(properties).filter(([name]) => !added.includes(name));
  const isFlat = own.every(([, { type }]) => /^(?:string|number|integer|boolean)$/.test(type));
  const form = { properties: Object.fromEntries(own), required };
  const view = isFlat
    ? { fields: form.properties, required, content: simplestContent(form) }
    : {
        fields: { json: { type: 'string', title: 'Arguments as JSON' } as const },
        content: { json: '{}' },
      };
  return (
    <QuestionForm
      question={{ id, type: 'call', message: '', reason: undefined, ...view }}
      accept="Start"
      onAnswer={({ content }) => {
        const { json } = content as { readonly json: string };
        void store.start(id, (isFlat ? content : JSON.parse(json)) as object);
      }}
    />
  );
}
