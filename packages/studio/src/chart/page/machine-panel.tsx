import { useSignal, type Signal } from '@preact/signals';
import type { ComponentChildren, InputHTMLAttributes, JSX } from 'preact';
import type { MachineView, RunningMachine, WaitingActor } from '../model/machine-view.ts';
import type { MachineStore } from './machine-store.ts';
import { Button, Shown, toStates } from '../../parts/controls.tsx';

const submitTo =
  (act: () => void) =>
  (event: Event): void => {
    event.preventDefault();
    act();
  };

type Part = { readonly store: MachineStore };

export function MachinePanel({ store }: Part): JSX.Element | null {
  const { value: view } = store.view;
  const { value: machine } = store.machine;
  if (view === undefined || machine === undefined) return null;
  return (
    <div class="panel">
      {machine.status !== 'active' && (
        <p class={`status ${machine.status}`} role="status">
          {machine.status}
          {machine.result !== undefined && ': '}
          {machine.result !== undefined && <Shown text={machine.result} />}
        </p>
      )}
      {machine.status === 'active' && <Events store={store} machine={machine} />}
      {view.actors.length > 0 && (
        <section aria-label="Actors">
          <h2>Actors</h2>
          {view.actors.map((actor) => (
            <ActorForm key={actor.id} store={store} actor={actor} />
          ))}
        </section>
      )}
      <Clock store={store} view={view} />
      <section aria-label="Context">
        <h2>Context</h2>
        <pre tabIndex={0}>{machine.context}</pre>
      </section>
      <section aria-label="History">
        <h2>History</h2>
        <ol class="past">
          {view.history.map(({ what, value }, index) => (
            <li key={index}>
              <Button
                aria-current={index === view.history.length - 1 ? 'step' : undefined}
                onClick={() => store.goBack(index)}
              >
                <b>{what}</b> <span>{toStates(value)}</span>
              </Button>
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
}

function Events({ store, machine }: Part & { readonly machine: RunningMachine }): JSX.Element {
  const other = useSignal('');
  const types = machine.chart.transitions
    .filter(({ source, kind }) => kind === 'event' && machine.active.includes(source))
    .flatMap(({ type }) => (type.includes('*') ? [] : [type]));
  return (
    <section aria-label="Events">
      <h2>Events</h2>
      <div class="events">
        {[...new Set(types)].map((type) => (
          <Button key={type} onClick={() => store.send(type)}>
            {type}
          </Button>
        ))}
      </div>
      <TextField caption="Data as JSON" text={store.data} placeholder={'{ "count": 2 }'} />
      <form class="row" onSubmit={submitTo(() => store.send(other.value))}>
        <TextField caption="Another event" text={other} required />
        <button type="submit">Send</button>
      </form>
    </section>
  );
}

function ActorForm({ store, actor }: Part & { readonly actor: WaitingActor }): JSX.Element {
  const result = useSignal('');
  return (
    <div class="actor">
      <TextField
        caption={
          <>
            Result of <Shown text={actor.name} />, as JSON
          </>
        }
        text={result}
      />
      <Button onClick={() => store.settle('resolve', actor.id, result.value)}>
        Resolve <Shown text={actor.name} />
      </Button>
      <Button onClick={() => store.settle('reject', actor.id, result.value)}>
        Reject <Shown text={actor.name} />
      </Button>
    </div>
  );
}

function Clock({ store, view }: Part & { readonly view: MachineView }): JSX.Element {
  const seconds = useSignal('1');
  return (
    <section aria-label="Clock">
      <h2>
        Clock <span>{view.nowMs / 1000} s</span>
      </h2>
      <ul>
        {view.timers.map(({ name, dueMs }, index) => (
          <li key={index}>
            <Button onClick={() => store.take({ type: 'skip', toMs: dueMs })}>
              Skip to <Shown text={name} /> (in {(dueMs - view.nowMs) / 1000} s)
            </Button>
          </li>
        ))}
      </ul>
      <form class="row" onSubmit={submitTo(() => store.advance(Number(seconds.value)))}>
        <TextField caption="Seconds" text={seconds} type="number" min="0" step="any" required />
        <button type="submit">Advance</button>
      </form>
    </section>
  );
}

type TextFieldProps = InputHTMLAttributes & {
  readonly caption: ComponentChildren;
  readonly text: Signal<string>;
};

function TextField({ caption, text, ...input }: TextFieldProps): JSX.Element {
  return (
    <label>
      {caption}
      <input
        {...input}
        value={text}
        onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      />
    </label>
  );
}
