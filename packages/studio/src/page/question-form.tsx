import type { Field } from '@mcp-saga/testing/internal';
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Given, OutsideAct } from '../model/session.ts';
import type { QuestionView } from '../model/view.ts';

interface QuestionFormProps {
  readonly question: QuestionView;
  readonly onAnswer: (given: Given) => void;
  /** Label of the accepting button. */
  readonly accept?: string;
}

/** Question in the form of a client. */
export function QuestionForm({ question, onAnswer, accept = 'Accept' }: QuestionFormProps): JSX.Element {
  const { id, type, message, reason, fields = {}, content } = question;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { submitter } = event;
    const action = submitter instanceof HTMLButtonElement ? submitter.value : 'accept';
    if (action !== 'accept') return onAnswer({ id, action: action as Given['action'] });
    onAnswer({ id, action: 'accept', content: type === 'sampling' ? textOf(form) : contentOf(form, fields) });
  };
  return (
    <form class="question" aria-label={`Question ${id}`} onSubmit={submit}>
      <p>
        <b>{id}</b> {message}
      </p>
      {reason !== undefined && (
        <p class="failure" role="alert">
          {reason}
        </p>
      )}
      {type === 'sampling' && (
        <label>
          Text of the model
          <textarea name="text" rows={2}>
            Yes
          </textarea>
        </label>
      )}
      {Object.entries(fields).map(([name, field]) => (
        <FieldInput key={name} name={name} field={field} value={content[name]} />
      ))}
      <div class="buttons">
        <button type="submit" class="primary" value="accept">
          {accept}
        </button>
        {type === 'elicitation' && (
          <>
            <button type="submit" value="decline" formNoValidate>
              Decline
            </button>
            <button type="submit" value="cancel" formNoValidate>
              Dismiss
            </button>
          </>
        )}
      </div>
    </form>
  );
}

interface OutsideFormProps {
  readonly question: QuestionView;
  readonly onAnswer: (given: OutsideAct) => void;
}

/** Approval for another person, or event of another system. */
export function OutsideForm({ question, onAnswer }: OutsideFormProps): JSX.Element {
  const { id, type, message, fields = {}, content } = question;
  const failure = useSignal<string | undefined>(undefined);
  const isEvent = type === 'event';
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { submitter } = event;
    const action = submitter instanceof HTMLButtonElement ? submitter.value : 'approve';
    try {
      if (isEvent) onAnswer({ id, action: 'send', content: JSON.parse(textOf(form, 'event')) as unknown });
      else
        onAnswer({
          id,
          action: action === 'deny' ? 'deny' : 'approve',
          by: textOf(form, 'by'),
          content: contentOf(form, fields),
        });
    } catch {
      failure.value = 'The event is not valid JSON.';
    }
  };
  return (
    <form class="question outside" aria-label={isEvent ? `Event ${id}` : `Approval ${id}`} onSubmit={submit}>
      <p>
        <b>{id}</b> {isEvent ? 'Another system sends an event.' : `Another person decides: ${message}`}
      </p>
      {failure.value !== undefined && (
        <p class="failure" role="alert">
          {failure.value}
        </p>
      )}
      {isEvent ? (
        <label>
          Event as JSON
          <textarea name="event" rows={3} spellcheck={false}>
            {JSON.stringify(content, undefined, 2)}
          </textarea>
        </label>
      ) : (
        <label>
          Name of the person
          <input name="by" placeholder="a new person" autocomplete="off" />
        </label>
      )}
      {Object.entries(fields).map(([name, field]) => (
        <FieldInput key={name} name={name} field={field} value={content[name]} />
      ))}
      <div class="buttons">
        <button type="submit" class="primary" value="approve">
          {isEvent ? 'Send the event' : 'Approve'}
        </button>
        {!isEvent && (
          <button type="submit" value="deny" formNoValidate>
            Deny
          </button>
        )}
      </div>
    </form>
  );
}

interface FieldInputProps {
  readonly name: string;
  readonly field: Field;
  readonly value: unknown;
}

function FieldInput({ name, field, value }: FieldInputProps): JSX.Element {
  const label = field.title ?? name;
  const choices = choicesOf(field);
  if (field.type === 'boolean')
    return (
      <label class="check">
        <input type="checkbox" name={name} defaultChecked={value === true} /> {label}
      </label>
    );
  if (choices !== undefined)
    return (
      <label>
        {label}
        <select name={name} multiple={field.type === 'array'}>
          {choices.map((choice) => (
            <option key={choice} selected={[value].flat().includes(choice)}>
              {choice}
            </option>
          ))}
        </select>
      </label>
    );
  const isNumber = field.type === 'number' || field.type === 'integer';
  // The host checks the bounds, and asks again. A person may try a wrong answer.
  return (
    <label>
      {label}
      <input name={name} inputMode={isNumber ? 'decimal' : 'text'} defaultValue={textOfValue(value)} />
      {field.description !== undefined && <small>{field.description}</small>}
    </label>
  );
}

function choicesOf(field: Field): readonly string[] | undefined {
  const { oneOf } = field;
  const { items } = field;
  return (
    field.enum ?? oneOf?.map((each) => each.const) ?? items?.enum ?? items?.anyOf?.map((each) => each.const)
  );
}

function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

function textOf(form: HTMLFormElement, name: string = 'text'): string {
  const text = new FormData(form).get(name);
  return typeof text === 'string' ? text : '';
}

function contentOf(form: HTMLFormElement, fields: Readonly<Record<string, Field>>): Record<string, unknown> {
  const data = new FormData(form);
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, { type }]): [string, unknown][] => {
      const value = data.get(name);
      if (type === 'boolean') return [[name, value === 'on']];
      if (type === 'array') return [[name, data.getAll(name)]];
      if (value === null || value === '') return [];
      return [[name, type === 'string' ? value : Number(value)]];
    }),
  );
}
