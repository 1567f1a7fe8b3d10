import type * as Built from '#examples/others.js';
import { computed, effect, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { Reply, Request, Results, Run } from '../model/messages.ts';
import type { Act, Code, Example, LoadedCode, Session, SourceFile } from '../model/session.ts';
import type { CaseView, Cell, EntryView, Lane, LensView, Misfit } from '../model/view.ts';
import { watchFocus } from '../parts/controls.tsx';
import type { LitLines } from '../parts/lit-lines.ts';
import { keepDraft, withDraft } from '../parts/drafts.ts';
import { EngineClient, type Engine } from '../parts/engine-client.ts';
import { fromFragment, redactAnswers, toFragment, type Shared } from '../parts/link.ts';
import { shownEvents } from './panels/time-slider.tsx';

/** Case of the crash matrix, and its run; undefined while it runs. */
export type ShownCase = { readonly cell: Cell; readonly run?: CaseView | undefined };

/** Where the page is: on a site, or served by `mcp-saga dev`. */
export interface Home {
  readonly examples: readonly Example[];
  readonly engine: Engine;
  /**
   * Loads everything that the page needs later, too. Absent if the code is on a disk: the page only
   * reads it, and its steps may have real effects.
   */
  readonly loadCompiler?: () => Promise<typeof Built | undefined>;
}

type RequestOf<Type> = Request & { readonly type: Type };

const notLoaded = 'The page did not load completely. Check the network, and load the page again.';
const nothing: Pick<Session, 'answers' | 'forks'> = { answers: [], forks: [] };

export class Store {
  readonly isDev: boolean;
  readonly examples: Signal<readonly Example[]>;
  readonly example: Signal<string> = signal('');
  readonly files: Signal<readonly SourceFile[]> = signal([]);
  /** Name of the file in the editor; empty for that of the saga. */
  readonly shownFile: Signal<string> = signal('');
  /** Files as the example, or the link, has them. */
  readonly originals: Signal<readonly SourceFile[]> = signal([]);
  readonly isEdited: ReadonlySignal<boolean> = computed(() =>
    this.files.value.some(({ text }, at) => text !== this.originals.value[at]?.text),
  );
  readonly session: Signal<Session> = signal(nothing);
  readonly lanes: Signal<readonly Lane[]> = signal([]);
  /** `true` while the lanes are results of other code than that of the editor. */
  readonly isStale: Signal<boolean> = signal(false);
  readonly cells: Signal<readonly Cell[]> = signal([]);
  readonly exploring: Signal<boolean> = signal(false);
  readonly shown: Signal<{ readonly lane: number } | ShownCase> = signal({ lane: 0 });
  /** Mistake in the code of the editor. */
  readonly failure: Signal<string | undefined> = signal(undefined);
  /** Mistake in the undisturbed run. */
  readonly baseline: Signal<string | undefined> = signal(undefined);
  /** `true` if code waits for the consent of the person. */
  readonly waits: Signal<boolean> = signal(false);
  readonly entries: ReadonlySignal<readonly EntryView[]> = computed(() => {
    const { value: shown } = this.shown;
    const run = 'cell' in shown ? shown.run : this.lanes.value[shown.lane];
    return run?.entries.slice(0, shownEvents.value) ?? [];
  });
  /** Lines of the example that the demo removes; undefined for an example without a demo. */
  readonly removable: ReadonlySignal<Example['removable']> = computed(
    () => this.examples.value.find(({ name }) => name === this.example.value)?.removable,
  );
  /** Lines that the demo removes, or has put back. */
  readonly litLines: Signal<LitLines | undefined> = signal(undefined);
  /** Version of the run, while the editor has the next one. */
  readonly pinned: Signal<Code | undefined> = signal(undefined);
  /** Tokens that the next version cannot continue; undefined before the comparison. */
  readonly misfits: Signal<readonly Misfit[] | undefined> = signal(undefined);
  /**
   * Resolves when the page has something to show, and all code but the editor: no action may make a
   * request.
   */
  readonly ready: Promise<unknown>;
  readonly #loadCompiler: NonNullable<Home['loadCompiler']>;
  readonly #player: EngineClient<Request, Reply>;
  readonly #explorer: EngineClient<Request, Reply>;
  readonly #upgrader: EngineClient<Request, Reply>;
  /** Ends with the newest request to the player. */
  #asked: Promise<unknown> = Promise.resolve();
  #edit: ReturnType<typeof setTimeout> | undefined;
  #isAllowed = false;
  /** Whose edits the browser keeps: an example, or a link. */
  #draft = '';
  #opened: object | undefined;
  /**
   * Case of a link, as text. Opens when the explorers find it, unless the person opens something
   * before.
   */
  #case: string | undefined;

  constructor({ examples, engine, loadCompiler }: Home) {
    this.isDev = loadCompiler === undefined;
    this.examples = signal(examples);
    this.#loadCompiler = async () => {
      const loaded = await loadCompiler?.().catch(() => Promise.reject(Error(notLoaded)));
      if (this.examples.value === examples)
        this.examples.value = [...examples, ...(loaded?.others ?? [])];
      return loaded;
    };
    const shown = new Promise<void>((resolve) => {
      effect(() => {
        if (this.lanes.value.length > 0 || this.failure.value !== undefined || this.waits.value)
          resolve();
      });
    });
    this.ready = shown.then(this.#loadCompiler).catch(this.#fail);
    this.#player = new EngineClient<Request, Reply>(engine, 5_000);
    this.#explorer = new EngineClient<Request, Reply>(engine, 20_000);
    this.#upgrader = new EngineClient<Request, Reply>(engine, 20_000);
  }

  /** Opens the run of a link, or the first example. */
  async open(fragment: string): Promise<void> {
    const opened = (this.#opened = {});
    const shared = await fromFragment<Shared>(
      fragment,
      ({ session: { answers, forks } }) => Array.isArray(answers) && Array.isArray(forks),
    );
    const given = new URLSearchParams(fragment.slice(1));
    const name = shared?.example ?? given.get('example') ?? given.get('run');
    const find = (): Example | undefined => this.examples.value.find((each) => each.name === name);
    const problem =
      name === null || find()
        ? undefined
        : await this.#loadCompiler().then(() => undefined, String);
    // Another example was opened meanwhile.
    if (this.#opened !== opened) return;
    const example = find() ?? (name === null || shared?.files ? this.examples.value[0] : undefined);
    if (example === undefined || problem !== undefined)
      return void (this.failure.value = problem ?? 'The link is damaged, or its example is gone.');
    this.pinned.value = undefined;
    this.example.value = example.name;
    this.shownFile.value = '';
    this.litLines.value = undefined;
    this.#case = shared?.case;
    const { input, answers = [] } = shared?.session ?? {};
    // Of a link, code of a disk takes only what its consent shows. A script has its own arguments.
    const { files, session } = this.isDev
      ? { session: { answers } }
      : { session: undefined, ...shared };
    const own = example.input === undefined ? {} : { input: input ?? example.input };
    this.#dropResults();
    this.lanes.value = [];
    // On a disk, the newer version with a mistake is not the code that the page shows.
    if (!this.isDev) this.failure.value = undefined;
    // Edits of the code of a link are not edits of the example.
    this.#draft = shared === undefined ? example.name : fragment;
    this.originals.value = files ?? example.files;
    this.files.value = this.isDev ? example.files : withDraft(this.#draft, this.originals.value);
    this.session.value = { ...nothing, ...own, ...session };
    this.waits.value = this.isDev ? shared !== undefined || !this.#isAllowed : files !== undefined;
    if (!this.waits.value) this.runAll();
  }

  /**
   * Changes a file, and runs soon. Answers stay. Forks stay only while the run is of a pinned
   * version.
   */
  edit(name: string, text: string): void {
    const files = this.files.value.map((file) => (file.name === name ? { name, text } : file));
    if (this.#replaceFiles(files)) this.#edit = setTimeout(() => this.#runChanged(), 300);
  }

  /**
   * Changes files, and runs at once. Opens a case again when the explorers find it.
   * @param story - the case, as text
   */
  change(files: readonly SourceFile[], story?: string): void {
    if (!this.#replaceFiles(files)) return;
    this.#runChanged();
    this.#case = story;
  }

  reload(examples: readonly Example[]): void {
    this.examples.value = examples;
    this.files.value = examples.find(({ name }) => name === this.example.value)?.files ?? [];
    this.originals.value = this.files.value;
    this.#dropResults();
    this.#runChanged();
  }

  /** Returns `false` if the files have these texts already. */
  #replaceFiles(files: readonly SourceFile[]): boolean {
    const { value: before } = this.files;
    if (files.every(({ text }, at) => text === before[at]?.text)) return false;
    clearTimeout(this.#edit);
    this.files.value = files;
    keepDraft(this.#draft, files, this.originals.value);
    this.#dropResults();
    return true;
  }

  /**
   * Removes results of other code than that of the editor. The run stays, and the page says of which
   * code it is: a person looks at it while they type. The run of a pinned version stays as it is.
   */
  #dropResults(): void {
    this.stopExploring();
    this.#upgrader.stop();
    this.cells.value = [];
    this.baseline.value = undefined;
    this.misfits.value = undefined;
    this.shown.value = { lane: 0 };
    this.isStale.value = this.pinned.value === undefined;
  }

  #runChanged(): void {
    if (!this.waits.value) this.runAll(this.pinned.value === undefined ? { forks: [] } : {});
  }

  allow(): void {
    this.#isAllowed = true;
    this.waits.value = false;
    this.runAll();
  }

  /** Runs and explores the code, with a changed session. */
  runAll(change: Partial<Session> = {}): void {
    this.stopExploring();
    this.cells.value = [];
    void this.#go(change).then(() =>
      this.failure.value === undefined ? this.explore() : undefined,
    );
  }

  /**
   * Keeps the run of the current code, to compare it with the next version; and again: runs the
   * next version.
   */
  async togglePin(): Promise<void> {
    this.pinned.value = this.pinned.value ? undefined : await this.#compiled().catch(this.#fail);
    if (this.pinned.value) return void this.#compare();
    this.isStale.value = true;
    this.runAll({ forks: [] });
  }

  /**
   * Changes the answers, the client, or the clock, and plays again. Forks do not stay, as their
   * tokens differ.
   */
  set(change: Partial<Session>): void {
    void this.#go({ ...change, forks: [] });
  }

  act(lane: number, given: Act): void {
    const { answers, forks } = this.session.value;
    const fork = forks[lane - 1];
    if (fork === undefined) void this.#go({ answers: [...answers, given] });
    else
      void this.#go(
        { forks: forks.with(lane - 1, { ...fork, answers: [...fork.answers, given] }) },
        lane,
      );
  }

  /** Sends an older token again, with another answer if it has a question. */
  fork(lane: number, point: number, ...answers: Act[]): void {
    const { forks } = this.session.value;
    void this.#go({ forks: [...forks, { lane, point, answers }] }, forks.length + 1);
  }

  async record(lane: number): Promise<string | undefined> {
    return await this.#query({ type: 'record', ...(await this.#run()), lane });
  }

  async lens(lane: number, point: number, isChanged: boolean): Promise<LensView | undefined> {
    return await this.#query({ type: 'lens', ...(await this.#run()), lane, point, isChanged });
  }

  /** Shows a case of the crash matrix, and runs it again. Without a case, shows a lane. */
  async openCell(cell: Cell | undefined, lane: number = 0): Promise<void> {
    const shown = cell === undefined ? { lane } : { cell };
    this.shown.value = shown;
    this.#case = undefined;
    // The slider passes many cases. Only the last one runs.
    await this.#asked;
    if (this.shown.value !== shown || cell === undefined) return;
    const run = await this.#query({ type: 'case', code: await this.#compiled(), cell });
    if (this.shown.value === shown) this.shown.value = { cell, run };
  }

  /** Returns the test of a case, which may not be open. */
  async testOf(cell: Cell): Promise<string> {
    const { value: shown } = this.shown;
    if ('cell' in shown && shown.cell === cell && shown.run !== undefined) return shown.run.test;
    const run = await this.#query({ type: 'case', code: await this.#compiled(), cell });
    if (run === undefined) throw new Error('The case has no run.');
    return run.test;
  }

  /** Makes a link to the code and the run, with or without the values of the answers. */
  async link(hasValues: boolean): Promise<string> {
    const example = this.examples.value.find(({ name }) => name === this.example.value);
    const { value: files } = this.files;
    const { value: shown } = this.shown;
    const isEdited = JSON.stringify(example?.files) !== JSON.stringify(files);
    const shared: Shared = {
      example: this.example.value,
      ...(isEdited ? { files } : {}),
      ...('cell' in shown ? { case: shown.cell.when } : {}),
      session: hasValues ? this.session.value : redactAnswers(this.session.value),
    };
    return new URL(await toFragment(shared), location.href).href;
  }

  async #go(change: Partial<Session>, lane: number = 0): Promise<void> {
    const keepFocus = watchFocus();
    const { value: files } = this.files;
    const before = [this.session.value, this.shown.value] as const;
    this.session.value = { ...before[0], ...change };
    this.shown.value = { lane };
    const run = await this.#run().catch(this.#fail);
    // After a mistake in the code, the page keeps its run and its settings.
    if (run === undefined) return void ([this.session.value, this.shown.value] = before);
    const lanes = await (this.#asked = this.#ask(this.#player, { type: 'play', ...run }));
    if (lanes !== undefined) this.failure.value = undefined;
    keepFocus();
    this.lanes.value = lanes ?? [];
    this.isStale.value = this.files.value !== files && this.pinned.value === undefined;
    void this.#compare();
  }

  readonly #fail = (error: unknown): undefined => void (this.failure.value = String(error));

  /**
   * Compiles the files. The first example is compiled at build time, so its run does not wait for
   * the compiler.
   */
  async #compiled(): Promise<Code> {
    const files = this.files.value;
    const example = this.examples.value.find((each) => each.files === files);
    if (example?.compiled !== undefined) return withInput(example.compiled, this.session.value);
    return (await this.#loadCompiler())?.compile(files) ?? [];
  }

  async #run(): Promise<Run> {
    const { value: session } = this.session;
    return { code: withInput(this.pinned.value ?? (await this.#compiled()), session), session };
  }

  /** Asks the player after its current request. Undefined after a failure. */
  async #query<Type extends keyof Results>(
    request: RequestOf<Type>,
  ): Promise<Results[Type] | undefined> {
    const answered = this.#asked.then(() => this.#ask<Type>(this.#player, request));
    this.#asked = answered;
    return await answered;
  }

  async #ask<Type extends keyof Results>(
    client: EngineClient<Request, Reply>,
    request: RequestOf<Type>,
  ): Promise<Results[Type] | undefined> {
    // The code of a link may have come meanwhile.
    if (this.waits.value) return undefined;
    const result = await client.ask(request, (reply) => {
      if (reply.type === 'failed') this.failure.value = reply.message;
    });
    return result as Results[Type] | undefined;
  }

  async #compare(): Promise<void> {
    const { value: code } = this.pinned;
    this.misfits.value = undefined;
    if (code === undefined) return this.#upgrader.stop();
    const { value: session } = this.session;
    const next = await this.#compiled().catch(this.#fail);
    if (next === undefined) return;
    this.misfits.value = await this.#ask(this.#upgrader, { type: 'upgrade', code, next, session });
  }

  /** Stops the explorers. The cases so far stay. */
  stopExploring(): void {
    this.#explorer.stop();
    this.exploring.value = false;
  }

  async explore(): Promise<void> {
    const cells: Cell[] = [];
    let frame = 0;
    this.baseline.value = undefined;
    const { value: files } = this.files;
    const code = await this.#compiled().catch(this.#fail);
    if (code === undefined || this.waits.value || this.files.value !== files) return;
    this.exploring.value = true;
    await this.#explorer.ask({ type: 'explore', code }, (reply) => {
      if (reply.type === 'cell') {
        cells.push(reply.cell);
        if (reply.cell.when === this.#case) void this.openCell(reply.cell);
      }
      // Draws each case at once, but at most once a frame.
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        if (this.exploring.value) this.cells.value = [...cells];
      });
      if (reply.type === 'baseline' || reply.type === 'failed') this.baseline.value = reply.message;
    });
    this.cells.value = cells;
    this.exploring.value = false;
  }
}

function withInput(code: Code, { input }: Session): Code {
  return Array.isArray(code) || input === undefined ? code : { ...(code as LoadedCode), input };
}
