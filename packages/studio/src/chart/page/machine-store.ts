import { computed, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type * as Compiler from '../../engine/compile.ts';
import { EngineClient } from '../../parts/engine-client.ts';
import type { Failed } from '../../model/messages.ts';
import { watchFocus } from '../../parts/controls.tsx';
import { fromFragment, toFragment } from '../../parts/link.ts';
import type {
  MachineRequest,
  MachineStep,
  MachineView,
  RunningMachine,
} from '../model/machine-view.ts';

const engine = import('../engine/machine-worker.ts?worker&inline');
declare const MACHINES: Readonly<Record<string, string>>;

type Shared = Pick<MachineRequest, 'steps'> & Readonly<Record<'code' | 'input', string>>;
const isShared = ({ code, input, steps }: Shared): boolean =>
  typeof code === 'string' && typeof input === 'string' && Array.isArray(steps);

export class MachineStore {
  readonly examples: Readonly<Record<string, string>> = MACHINES;
  /** Loaded with the page, as an edit must not make a request. */
  readonly compiler: Promise<typeof Compiler> = import('../../engine/compile.ts');
  readonly code: Signal<string> = signal(Object.values(MACHINES)[0] ?? '');
  readonly input: Signal<string> = signal('');
  /** Data of the next event, as JSON. */
  readonly data: Signal<string> = signal('');
  readonly steps: Signal<readonly MachineStep[]> = signal([]);
  readonly view: Signal<MachineView | undefined> = signal(undefined);
  readonly shown: Signal<string> = signal('0');
  readonly machine: ReadonlySignal<RunningMachine | undefined> = computed(() => {
    const { machines = [] } = this.view.value ?? {};
    return machines.find(({ key }) => key === this.shown.value) ?? machines[0];
  });
  readonly failure: Signal<string | undefined> = signal(undefined);
  /** `true` if the code of a link waits for the consent of the person. */
  readonly waits: Signal<boolean> = signal(false);
  readonly #engine = new EngineClient<MachineRequest, Failed>(engine, 5_000);
  /** Steps of the last request, which may still run. */
  #wanted: readonly MachineStep[] = [];
  #edited: ReturnType<typeof setTimeout> | undefined;

  async load(fragment: string): Promise<void> {
    const shared = await fromFragment(fragment, isShared);
    if (shared === undefined) {
      await this.run();
      return fragment.startsWith('#run=') ? this.#fail('The link is damaged.') : undefined;
    }
    clearTimeout(this.#edited);
    this.#engine.stop();
    this.code.value = shared.code;
    this.input.value = shared.input;
    this.steps.value = shared.steps;
    this.view.value = undefined;
    this.failure.value = undefined;
    this.waits.value = true;
  }

  async link(hasValues: boolean): Promise<string> {
    const run = hasValues
      ? { input: this.input.value, steps: this.steps.value }
      : { input: '', steps: [] };
    return new URL(
      await toFragment({ code: this.code.value, ...run } satisfies Shared),
      location.href,
    ).href;
  }

  open(name: string): void {
    this.steps.value = [];
    this.waits.value = false;
    this.edit({ code: this.examples[name] ?? '', input: '' });
  }

  /** Changes the code or the input, and runs soon. The steps stay. */
  edit(change: { readonly code?: string; readonly input?: string }): void {
    this.code.value = change.code ?? this.code.value;
    this.input.value = change.input ?? this.input.value;
    clearTimeout(this.#edited);
    this.#edited = setTimeout(() => void (this.waits.value || this.run()), 300);
  }

  /** Takes a step. A double-click takes a step once, but sends an event twice. */
  take(step: MachineStep): void {
    if (step.type !== 'send' && JSON.stringify(step) === JSON.stringify(this.#wanted.at(-1)))
      return;
    void this.run([...this.#wanted, step]).then(watchFocus());
  }

  send(type: string): void {
    const isObject = /^\s*(?:\{|$)/.test(this.data.value);
    const data = isObject
      ? this.#read('data', this.data.value)
      : this.#fail('The data must be an object.');
    const to = this.machine.value?.key ?? '';
    if (data !== undefined) this.take({ type: 'send', to, event: { ...Object(data.value), type } });
  }

  settle(type: 'resolve' | 'reject', actor: string, data: string): void {
    const result = this.#read('result', data);
    if (result !== undefined) this.take({ type, actor, value: result.value });
  }

  /** Moves the clock, after all wanted steps. */
  advance(seconds: number): void {
    const last = this.#wanted.findLast((step) => step.type === 'skip');
    this.take({ type: 'skip', toMs: (last?.toMs ?? 0) + seconds * 1000 });
  }

  goBack(count: number): void {
    void this.run(this.#wanted.slice(0, count));
  }

  /** Runs the code with some steps, and keeps the steps before a mistake. */
  async run(steps: readonly MachineStep[] = this.steps.value): Promise<void> {
    const input = this.#read('input', this.input.value);
    if (input === undefined) return;
    this.waits.value = false;
    this.#wanted = steps;
    try {
      const { compile } = await this.compiler;
      // The code of a link may have come meanwhile.
      if (this.waits.value) return;
      const files = compile([{ name: 'machine.ts', text: this.code.value }]);
      const request = { files, input: input.value, steps };
      const result = await this.#engine.ask(request, ({ message }) => this.#fail(message));
      if (result === undefined) return;
      const view = result as MachineView;
      const [before] = (this.view.value ?? view).machines;
      // The steps were those of another machine.
      if (steps.length > 0 && before?.name !== view.machines[0]?.name) return await this.run([]);
      this.failure.value = view.problem;
      // A later edit may fit the dropped steps again.
      this.steps.value = steps;
      this.#wanted = steps.slice(0, view.history.length - 1);
      this.view.value = view;
    } catch (error) {
      this.#fail((error as Error).message);
    }
  }

  #fail(message: string): undefined {
    this.failure.value = message;
    this.#wanted = this.steps.value;
  }

  /** Reads JSON, or an empty text. Undefined, with a mistake at the page, for another text. */
  #read(name: string, text: string): { readonly value: unknown } | undefined {
    try {
      return { value: text.trim() === '' ? undefined : (JSON.parse(text) as unknown) };
    } catch (error) {
      return this.#fail(`The ${name} is not valid JSON. ${(error as Error).message}`);
    }
  }
}
