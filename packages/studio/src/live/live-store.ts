import { computed, effect, signal, type ReadonlySignal, type Signal } from '@preact/signals';
import type { StudioState } from 'mcp-saga/studio';
import type { Answer } from '../model/session.ts';
import { sendRequest, type Tool } from './mcp-client.ts';
import { keep, readKept } from './kept-requests.ts';
import { toLanes, type LiveLane } from './lanes.ts';
import { toStepResult, type SagaReply, type Sent } from './sent-requests.ts';

const pollMs = 500;
const retryMs = 3_000;
// Longer waits are continued by a button.
const longestWaitMs = 60_000;

/** State of the live page. */
export class LiveStore {
  readonly state: Signal<StudioState | undefined> = signal(undefined);
  readonly tools: Signal<readonly Tool[]> = signal([]);
  /** Shown saga: its ID, or the ID of the request that starts it. */
  readonly shown: Signal<string | undefined>;
  /** Number of the shown lane. */
  readonly lane: Signal<number>;
  /** Problem of the connection, or of a call. */
  readonly failure: Signal<string | undefined> = signal(undefined);
  /** Access token for servers with users. */
  readonly bearer: Signal<string> = signal('');
  readonly sent: Signal<ReadonlyMap<string, Sent>>;
  readonly saga: ReadonlySignal<StudioState['seen'][number] | undefined> = computed(() => {
    const { seen = [] } = this.state.value ?? {};
    const { value: shown } = this.shown;
    return seen.find(({ sagaId, request }) => shown === sagaId || (shown !== undefined && shown === request));
  });
  readonly lanes: ReadonlySignal<readonly LiveLane[]> = computed(() =>
    toLanes(this.state.value?.turns ?? [], this.sent.value, this.saga.value?.saga ?? ''),
  );
  #loaded: string | undefined;
  #refreshing: Promise<void> | undefined;

  constructor() {
    const { shown, lane, sent } = readKept();
    this.shown = signal(shown);
    this.lane = signal(lane);
    this.sent = signal(new Map(sent.map((each) => [each.id, each])));
    effect(() =>
      keep({ shown: this.shown.value, lane: this.lane.value, sent: [...this.sent.value.values()] }),
    );
  }

  /** Polls the state while the page is visible. */
  async follow(): Promise<never> {
    for (;;) {
      if (!document.hidden) await this.refresh();
      await new Promise((resolve) => {
        setTimeout(resolve, this.failure.value === unreachable ? retryMs : pollMs);
      });
    }
  }

  /** Loads the state, at most once at a time. */
  async refresh(): Promise<void> {
    this.#refreshing ??= this.#load().finally(() => (this.#refreshing = undefined));
    await this.#refreshing;
  }

  show(sagaId: string): void {
    this.shown.value = sagaId;
    this.lane.value = 0;
    void this.refresh();
  }

  /** Calls a saga. */
  async start(tool: string, args: object): Promise<void> {
    this.failure.value = undefined;
    const params = { name: tool, arguments: args };
    const id = crypto.randomUUID();
    this.shown.value = id;
    const call = { id, tool, parent: undefined, method: 'tools/callSaga', params, args } as const;
    const { error } = await this.#send(call);
    this.lane.value = 0;
    if (error !== undefined) this.failure.value = `${tool}: ${error}`;
  }

  /** Starts the shown saga again, with the same arguments. Undefined for a saga of another client. */
  get startAgain(): (() => void) | undefined {
    const { tool, args } = this.sent.value.get(this.saga.value?.request ?? '') ?? {};
    return tool !== undefined && args !== undefined ? () => void this.start(tool, args) : undefined;
  }

  /** Answers a question of a turn, of the newest one or of an older one. */
  async answer(from: Sent, given: Answer): Promise<void> {
    const step = from.reply?.steps?.find(({ stepId }) => stepId === given.id);
    if (step === undefined) return;
    await this.#resume(from, [{ stepId: given.id, result: toStepResult(step, given) }]);
  }

  /** Continues a saga that waits for nothing but time. */
  async proceed(from: Sent): Promise<void> {
    await this.#resume(from, []);
  }

  async cancel(from: Sent): Promise<void> {
    await this.#use(from, 'tools/cancelSaga', { reason: 'cancelled in the studio' });
  }

  async #resume(from: Sent, completedSteps: readonly object[]): Promise<void> {
    const before = this.lanes.value.length;
    await this.#use(from, 'tools/resumeSaga', { completedSteps });
    if (this.lanes.value.length > before) this.lane.value = this.lanes.value.length - 1;
  }

  async #use({ tool, id: parent, reply }: Sent, method: Sent['method'], more: object): Promise<void> {
    const params = { sagaToken: reply?.sagaToken, ...more };
    await this.#send({ id: crypto.randomUUID(), tool, parent, method, params });
  }

  async #send(request: Sent): Promise<Sent> {
    const { params = {}, ...facts } = request;
    const { id, method } = request;
    const note = (noted: Sent): void => {
      this.sent.value = new Map(this.sent.value).set(id, noted);
    };
    note(request);
    const path = this.state.value?.mcp ?? '';
    let sent: Sent;
    try {
      const { value: bearer } = this.bearer;
      sent = { ...facts, reply: await sendRequest<SagaReply>(path, { method, params, id, bearer }) };
    } catch (error) {
      sent = { ...facts, error: (error as Error).message };
    }
    note(sent);
    // A load that began before the response may lack the turn.
    await this.#refreshing;
    await this.refresh();
    this.#proceedLater(sent);
    return sent;
  }

  /** Continues after a reload: sends unanswered requests again, which the guard recognizes, and continues waiting sagas. */
  #continue(): void {
    const all = [...this.sent.value.values()];
    for (const sent of all) {
      if (sent.parent !== undefined && sent.params !== undefined) void this.#send(sent);
      else if (all.every(({ parent }) => parent !== sent.id)) this.#proceedLater(sent);
    }
  }

  #proceedLater(sent: Sent): void {
    const { state, steps = [], retryAfterMs = 0 } = sent.reply ?? {};
    if (state === 'suspended' && steps.length === 0 && retryAfterMs <= longestWaitMs)
      setTimeout(() => void this.proceed(sent), retryAfterMs);
  }

  async #load(): Promise<void> {
    const { revision } = this.state.value ?? {};
    const shown = this.saga.value?.sagaId;
    const query = new URLSearchParams({
      ...(shown === undefined ? {} : { saga: shown }),
      ...(revision !== undefined && this.#loaded === shown ? { after: String(revision) } : {}),
    });
    try {
      const response = await fetch(`state?${query}`);
      if (this.failure.value === unreachable) this.failure.value = undefined;
      if (response.status !== 204) await this.#take((await response.json()) as StudioState, shown);
    } catch {
      this.failure.value = unreachable;
    }
  }

  async #take(state: StudioState, shown: string | undefined): Promise<void> {
    const before = this.state.value;
    this.state.value = state;
    this.#loaded = shown;
    if (state.mcp !== undefined && before === undefined) this.#continue();
    if (state.mcp !== undefined && before?.reloads !== state.reloads) await this.loadTools();
    // The turns of a saga that this state mentions first.
    if (this.saga.value?.sagaId !== shown) await this.#load();
  }

  /** Lists the tools of the server that are sagas. */
  async loadTools(): Promise<void> {
    const { mcp = '' } = this.state.value ?? {};
    try {
      const { value: bearer } = this.bearer;
      const request = { method: 'tools/list', params: {}, id: crypto.randomUUID(), bearer };
      const { tools } = await sendRequest<{ readonly tools: readonly Tool[] }>(mcp, request);
      this.tools.value = tools.filter((tool) => methodsOf(tool).includes('tools/callSaga'));
    } catch (error) {
      this.failure.value = `The server does not list its tools: ${(error as Error).message}`;
    }
  }
}

const unreachable = 'The server does not answer.';

/** Returns the saga methods of a tool. */
export function methodsOf({ _meta: meta = {} }: Tool): readonly string[] {
  return Object.values(meta).flatMap(({ methods = [] }) => methods);
}
