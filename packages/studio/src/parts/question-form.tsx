import { lineForPeople, textForPeople } from '@mcp-saga/core/shared';
import type { Field } from '@mcp-saga/testing/internal';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Answer, OutsideAct } from '../model/session.ts';
import type { QuestionView } from '../model/view.ts';
import { Failure, Shown } from './controls.tsx';

type QuestionFormProps = Readonly<{
  question: QuestionView;
  accept?: string;
  onAnswer(given: Answer): void;
}>;

/**
 * Name of the form, and labels of its buttons by action. The first button checks the fields.
 */
const kinds: Readonly<
  Record<string, readonly [name: string, buttons: Readonly<Record<string, string>>]>
> = {
  elicitation: ['Question', { accept: 'Accept', decline: 'Decline', cancel: 'Dismiss' }],
  approval: ['Approval', { approve: 'Approve', deny: 'Deny' }],
  event: ['Event', { send: 'Send the event' }],
};

export function QuestionForm({
  question,
  onAnswer,
  accept = 'Accept',
}: QuestionFormProps): JSX.Element {
  const { id, type, message, url, reason, fields = {} } = question;
  const mistake = useSignal<string | undefined>(undefined);
  const [name, buttons] = kinds[type] ?? ['Question', { accept: 'Accept' }];
  const [main = ''] = Object.keys(buttons);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const { submitter, currentTarget } = event;
    const action = submitter instanceof HTMLButtonElement ? submitter.value : main;
    const isRefused = action === 'decline' || action === 'cancel';
    try {
      const given = isRefused ? {} : readForm(currentTarget as HTMLFormElement, question);
      onAnswer({ id, action, ...given } as Answer);
      mistake.value = undefined;
    } catch (error) {
      mistake.value = type === 'event' ? 'The event is not valid JSON.' : (error as Error).message;
    }
  };
  return (
    <form
      class={`question ${name}`}
      aria-label={`${name} ${id}`}
      tabIndex={-1}
      onKeyDown={keepOpen}
      onSubmit={submit}
    >
      <p>
        <b>{id}</b> {type === 'approval' && 'Another person decides: '}
        {type === 'event' ? 'Another system sends an event.' : <Shown text={message} />}
      </p>
      {url !== undefined && /^https?:/.test(url) && (
        <a href={url} target="_blank" rel="noreferrer">
          {url}
        </a>
      )}
      <Failure text={mistake.value ?? reason} />
      <OwnField question={question} />
      {Object.entries(fields).map(([key, field]) => (
        <FieldInput key={key} name={key} field={field} question={question} />
      ))}
      <div class="buttons">
        {Object.entries(buttons).map(([action, label]) => (
          <button key={action} type="submit" value={action} formNoValidate={action !== main}>
            {action === 'accept' ? accept : label}
          </button>
        ))}
      </div>
    </form>
  );
}

/** Enter in a field would press a button of the form, and an answer is final. */
function keepOpen(event: KeyboardEvent): void {
  const { key, target } = event;
  const isField = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
  if (key === 'Enter' && isField) event.preventDefault();
}

function OwnField({
  question: { type, content },
}: Pick<QuestionFormProps, 'question'>): JSX.Element | null {
  if (type === 'approval')
    return (
      <label>
        Name of the person
        <input name="by" placeholder="a new person" autocomplete="off" />
      </label>
    );
  if (type !== 'event' && type !== 'sampling') return null;
  return (
    <label>
      {type === 'event' ? 'Event as JSON' : 'Text of the model'}
      <textarea
        name="text"
        rows={3}
        spellcheck={type === 'sampling'}
        // The value itself, which is sent. Escaped JSON is the same JSON.
        defaultValue={
          type === 'event'
            ? textForPeople(JSON.stringify(content, undefined, 2))
            : String(content['text'])
        }
      />
    </label>
  );
}

type FieldInputProps = Readonly<{ name: string; field: Field; question: QuestionView }>;

function FieldInput({ name, field, question }: FieldInputProps): JSX.Element {
  const { [name]: value } = question.content;
  const isOptional = question.required?.includes(name) === false;
  const { type, enum: own, oneOf, items } = field;
  const plain = (own ?? items?.enum)?.map((choice) => ({ const: choice, title: choice }));
  const choices = plain ?? oneOf ?? items?.anyOf;
  return (
    <label class={type === 'boolean' ? 'check' : ''}>
      <span>
        <Shown text={field.title ?? name} /> {isOptional && <small>optional</small>}
      </span>
      {type === 'boolean' ? (
        <input type="checkbox" name={name} defaultChecked={value === true} />
      ) : choices === undefined ? (
        // The host checks the bounds, and asks again. A person may try a wrong answer.
        <input
          name={name}
          inputMode={type === 'string' ? 'text' : 'decimal'}
          defaultValue={proposed(value)}
        />
      ) : (
        <select name={name} multiple={type === 'array'}>
          {isOptional && type === 'string' && <option value="" />}
          {choices.map(({ const: choice, title = choice }) => (
            <option key={choice} value={choice} selected={[value].flat().includes(choice)}>
              {title}
            </option>
          ))}
        </select>
      )}
      {field.description !== undefined && (
        <small>
          <Shown text={field.description} />
        </small>
      )}
    </label>
  );
}

/** Initial text of a field. A person would send what they do not see of it: such a text is none. */
function proposed(value: unknown): string | undefined {
  if (typeof value !== 'string') return JSON.stringify(value);
  return lineForPeople(value) === value ? value : '';
}

/** Reads the answer in a form. Throws SyntaxError if an event is no JSON. */
function readForm(
  form: HTMLFormElement,
  { type, fields = {}, required }: QuestionView,
): Pick<OutsideAct, 'content' | 'by'> {
  const data = new FormData(form);
  const textOf = (name: string): string => (data.get(name) as string | null) ?? '';
  if (type === 'sampling') return { content: textOf('text') };
  if (type === 'event') return { content: JSON.parse(textOf('text')) as unknown };
  const read = Object.entries(fields).flatMap(([name, field]): [string, unknown][] => {
    if (field.type === 'boolean') return [[name, data.has(name)]];
    const value = field.type === 'array' ? data.getAll(name) : textOf(name);
    if (value.length === 0 && (value === '' || required?.includes(name) === false)) return [];
    const isNumber = /^(?:number|integer)$/.test(field.type) && Number.isFinite(Number(value));
    return [[name, isNumber ? Number(value) : value]];
  });
  return {
    content: Object.fromEntries(read),
    ...(type === 'approval' ? { by: textOf('by') } : {}),
  };
}
