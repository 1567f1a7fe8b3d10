import { computed, effect, signal, type ReadonlySignal, type Signal } from '@preact/signals';
// oxlint-disable-next-line import/default -- Vite makes the URL
import engineUrl from '../engine/worker.ts?worker&url';
import type { Refusal, Reply, Request, Run } from '../model/messages.ts';
import type { Act, CompiledFile, Example, Session, SourceFile } from '../model/session.ts';
import type { CaseView, Cell, EntryView, Lane, LensView, Misfit } from '../model/view.ts';
import { EngineClient } from '../parts/engine-client.ts';
import { fromFragment, isRedacted, redactAnswers, toFragment, type Shared } from '../parts/link.ts';

declare const EXAMPLES: readonly Example[];

/** What the ladder shows: a lane of the session, or a case of the crash matrix. */
export type Shown = { readonly lane: number } | { readonly cell: number };

type ReplyOf<Type extends Reply['type']> = Extract<Reply, { readonly type: Type }>;

const nothing: Session = { answers: [], forks: [] };

/** State of the page. */
export class Store {
  readonly examples: readonly Example[] = EXAMPLES;
  readonly example: Signal<string> = signal(EXAMPLES[0]?.name ?? '');
  readonly files: Signal<readonly SourceFile[]> = signal(EXAMPLES[0]?.files ?? []);
  readonly session: Signal<Session> = signal(nothing);
  readonly lanes: Signal<readonly Lane[]> = signal([]);
  readonly cells: Signal<readonly Cell[]> = signal([]);
  /** Explores now. */
  readonly exploring: Signal<boolean> = signal(false);
  readonly shown: Signal<Shown> = signal({ lane: 0 });
  /** Run of the shown case; undefined while it runs. */
  readonly case: Signal<CaseView | undefined> = signal(undefined);
  /** Mistake in the code of the editor. */
  readonly failure: Signal<string | undefined> = signal(undefined);
  /** Mistake in the undisturbed run. */
  readonly baseline: Signal<string | undefined> = signal(undefined);
  /** `true` if the code of a link waits for the consent of the person. */
  readonly waits: Signal<boolean> = signal(false);
  readonly failing: ReadonlySignal<number> = computed(
    () => this.cells.value.filter(({ what }) => what !== undefined).length,
  );
  /** `true` if placeholders stand for answers. */
  readonly isRedacted: ReadonlySignal<boolean> = computed(() => isRedacted(this.session.value));
  /** Events of the shown lane or case. */
  readonly entries: ReadonlySignal<readonly EntryView[]> = computed(() => {
    const { value: shown } = this.shown;
    const run = 'cell' in shown ? this.case.value : this.lanes.value[shown.lane];
    return run?.entries ?? [];
  });
  /** Version of the run, while the editor has the next one. */
  readonly pinned: Signal<readonly CompiledFile[] | undefined> = signal(undefined);
  /** Tokens that the next version cannot continue; undefined before the comparison. */
  readonly misfits: Signal<readonly Misfit[] | undefined> = signal(undefined);
  /** Resolves when the page has something to show. */
  readonly ready: Promise<void> = new Promise((resolve) => {
    effect(() => {
      if (this.lanes.value.length > 0 || this.failure.value !== undefined || this.waits.value) resolve();
    });
  });
  /** Starts while the page is drawn. */
  readonly #player = new EngineClient<Request, Reply>(engineUrl, 5_000).start();
  readonly #explorer = new EngineClient<Request, Reply>(engineUrl, 20_000);
  readonly #upgrader = new EngineClient<Request, Reply>(engineUrl, 20_000);
  /** Ends with the newest request to the player. */
  #asked: Promise<unknown> = Promise.resolve();
  #edit: ReturnType<typeof setTimeout> | undefined;

  /** Opens the run of a link, or the first example. */
  async open(fragment: string): Promise<void> {
    const shared = await fromFragment<Shared>(
      fragment,
      ({ session: { answers, forks } }) => Array.isArray(answers) && Array.isArray(forks),
    );
    const name = shared?.example ?? /^#example=([\w-]+)$/.exec(fragment)?.[1];
    const example = this.examples.find((each) => each.name === name) ?? this.examples[0];
    if (example === undefined) return;
    this.#forgetPin();
    this.example.value = example.name;
    this.files.value = shared?.files ?? example.files;
    this.session.value = shared?.session ?? nothing;
    this.waits.value = shared?.files !== undefined;
    if (!this.waits.value) this.runAll();
  }

  /** Changes a file, and runs soon. Answers stay. Forks stay only while the run is of a pinned version. */
  edit(name: string, text: string): void {
    this.files.value = this.files.value.map((file) => (file.name === name ? { name, text } : file));
    clearTimeout(this.#edit);
    this.#edit = setTimeout(() => {
      if (this.pinned.value === undefined) this.session.value = { ...this.session.value, forks: [] };
      this.runAll();
    }, 300);
  }

  runAll(): void {
    this.waits.value = false;
    this.shown.value = { lane: 0 };
    this.cells.value = [];
    void this.#play().then(() => (this.failure.value === undefined ? this.#explore() : undefined));
  }

  /** Keeps the run of the current code, to compare it with the next version. */
  async pin(): Promise<void> {
    this.pinned.value = await this.#compiled();
    void this.#compare();
  }

  unpin(): void {
    this.#forgetPin();
    this.session.value = { ...this.session.value, forks: [] };
    this.runAll();
  }

  restart(): void {
    this.#go({ ...this.session.value, ...nothing }, { lane: 0 });
  }

  /** Changes the client or the clock, and plays again. Forks do not stay, as their tokens differ. */
  set(settings: Pick<Session, 'client' | 'isPaused'>): void {
    this.#go({ ...this.session.value, ...settings, forks: [] }, { lane: 0 });
  }

  /** Continues a lane that waits. */
  act(lane: number, given: Act): void {
    const { value: session } = this.session;
    const { answers, forks } = session;
    const fork = forks[lane - 1];
    const next =
      fork === undefined
        ? { ...session, answers: [...answers, given] }
        : { ...session, forks: forks.with(lane - 1, { ...fork, answers: [...fork.answers, given] }) };
    this.#go(next, { lane });
  }

  /** Replays the run up to a token, and continues with another answer. */
  change(acts: number, given: Act): void {
    const { value: session } = this.session;
    this.#go({ ...session, answers: [...session.answers.slice(0, acts), given], forks: [] }, { lane: 0 });
  }

  /** Sends an older token again, with another answer. */
  fork(lane: number, point: number, given: Act): void {
    const { value: session } = this.session;
    const { forks } = session;
    this.#go(
      { ...session, forks: [...forks, { lane, point, answers: [given] }] },
      { lane: forks.length + 1 },
    );
  }

  /** Makes the recording of a lane that has ended. */
  async record(lane: number): Promise<string | undefined> {
    return (await this.#query('recording', { type: 'record', ...(await this.#run()), lane }))?.text;
  }

  /** Opens a token. */
  async lens(lane: number, point: number): Promise<LensView | undefined> {
    return (await this.#query('lens', { type: 'lens', ...(await this.#run()), lane, point }))?.lens;
  }

  async tamper(lane: number, point: number): Promise<Refusal | undefined> {
    return (await this.#query('refusal', { type: 'tamper', ...(await this.#run()), lane, point }))?.refusal;
  }

  /** Shows a case of the crash matrix, and runs it again. */
  async openCell(index: number): Promise<void> {
    const cell = this.cells.value[index];
    if (cell === undefined) return;
    const shown = { cell: index };
    this.shown.value = shown;
    this.case.value = undefined;
    const reply = await this.#query('case', { type: 'case', files: await this.#compiled(), cell });
    if (this.shown.value === shown) this.case.value = reply?.case;
  }

  /** Makes a link to the code and the run, with or without the values of the answers. */
  async link(hasValues: boolean): Promise<string> {
    const example = this.examples.find(({ name }) => name === this.example.value);
    const { value: session } = this.session;
    const files = this.files.value;
    const isEdited = JSON.stringify(example?.files) !== JSON.stringify(files);
    const shared: Shared = {
      example: this.example.value,
      ...(isEdited ? { files } : {}),
      session: hasValues ? session : redactAnswers(session),
    };
    return new URL(await toFragment(shared), location.href).href;
  }

  #go(session: Session, shown: Shown): void {
    this.session.value = session;
    this.shown.value = shown;
    void this.#play();
  }

  /** Compiles the files. The first example is compiled at build time, so its run does not wait for the compiler. */
  async #compiled(): Promise<readonly CompiledFile[]> {
    const files = this.files.value;
    const example = this.examples.find((each) => each.files === files);
    if (example?.compiled !== undefined) return example.compiled;
    const { compile } = await import('../engine/compile.ts');
    return compile(files);
  }

  /** Files and session of the run. */
  async #run(): Promise<Run> {
    const { value: session } = this.session;
    return { files: this.pinned.value ?? (await this.#compiled()), session };
  }

  /** Asks the player after its current request. Undefined after a failure. */
  async #query<Type extends Reply['type']>(type: Type, request: Request): Promise<ReplyOf<Type> | undefined> {
    let found: ReplyOf<Type> | undefined;
    this.#asked = this.#asked.then(() =>
      this.#player.ask(request, (reply) => {
        if (reply.type === 'failed') this.failure.value = reply.message;
        else if (reply.type === type) found = reply as ReplyOf<Type>;
      }),
    );
    await this.#asked;
    return found;
  }

  #forgetPin(): void {
    this.pinned.value = undefined;
    this.misfits.value = undefined;
  }

  /** Compares the tokens of the run with the next version. */
  async #compare(): Promise<void> {
    const { value: files } = this.pinned;
    if (files === undefined) return;
    const { value: session } = this.session;
    this.misfits.value = undefined;
    const next = await this.#compiled();
    await this.#upgrader.ask({ type: 'upgrade', files, next, session }, (reply) => {
      if (reply.type === 'misfits') this.misfits.value = reply.misfits;
      if (reply.type === 'failed') this.failure.value = reply.message;
    });
  }

  async #play(): Promise<void> {
    const run = await this.#run();
    const played = this.#player.ask({ type: 'play', ...run }, (reply) => {
      this.failure.value = reply.type === 'failed' ? reply.message : undefined;
      this.lanes.value = reply.type === 'lanes' ? reply.lanes : [];
    });
    this.#asked = played;
    await played;
    void this.#compare();
  }

  /** Stops the explorers. The cases so far stay. */
  stopExploring(): void {
    this.#explorer.stop();
    this.exploring.value = false;
  }

  async #explore(): Promise<void> {
    const cells: Cell[] = [];
    let isDrawn = true;
    this.exploring.value = true;
    this.baseline.value = undefined;
    const files = await this.#compiled();
    await this.#explorer.ask({ type: 'explore', files }, (reply) => {
      if (reply.type === 'cell') cells.push(reply.cell);
      // Draws each case at once, but at most once a frame.
      if (isDrawn) {
        isDrawn = false;
        requestAnimationFrame(() => {
          isDrawn = true;
          if (this.exploring.value) this.cells.value = [...cells];
        });
      }
      if (reply.type === 'baseline' || reply.type === 'failed') this.baseline.value = reply.message;
    });
    this.cells.value = cells;
    this.exploring.value = false;
  }
}
