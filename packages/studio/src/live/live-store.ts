import { effect, signal, type Signal, computed, type ReadonlySignal } from '@preact/signals';
import type { SagaInspection } from '@mcp-saga/server';
import type { StudioState } from 'mcp-saga/studio';
import type { Sources } from '../model/session.ts';
import { scrollToRun, watchFocus } from '../parts/controls.tsx';
import { loadSources } from '../parts/load-sources.ts';
import { toLanes, unheldTurn, type LiveLane } from './lanes.ts';
import {
  methodsOf,
  sendRequest,
  type SagaReply,
  type Sent,
  type Tool,
  type ToolList,
} from './mcp-client.ts';

/**
 * Creates a signal whose value, or the part that `shorten` returns, outlives a reload. The browser
 * drops it with the tab.
 */
export function keptSignal<T>(
  name: string,
  initial: T,
  shorten = (value: T): T => value,
): Signal<T> {
  const key = `mcp-saga studio ${name}`;
  const text = sessionStorage.getItem(key);
  const kept = signal(text === null ? initial : (JSON.parse(text) as T));
  effect(() => sessionStorage.setItem(key, JSON.stringify(shorten(kept.value))));
  return kept;
}

const pollMs = 500;
const retryMs = 3_000;
// Longer waits are continued by a button.
const longestWaitMs = 60_000;

export class LiveStore {
  readonly state: Signal<StudioState | undefined> = signal(undefined);
  readonly tools: Signal<readonly Tool[]> = signal([]);
  /** Source of the served code; undefined for an operator. */
  readonly sources: Signal<Sources | undefined> = signal(undefined);
  /** Shown saga: the ID of the saga, or of the request for its start. */
  readonly shown: Signal<string> = keptSignal('shown', '');
  readonly lane: Signal<number> = keptSignal('lane', 0);
  /** Requests of this page. The tokens of kept requests must fit the quota of a tab. */
  readonly sent: Signal<readonly Sent[]> = keptSignal('sent', [], (all) => all.slice(-50));
  /** `true` after a kill, until another process answers. */
  readonly isKilled: Signal<boolean> = signal(false);
  readonly failure: Signal<string | undefined> = signal(undefined);
  /** Access token for servers with users. */
  readonly bearer: Signal<string> = signal('');
  readonly saga: ReadonlySignal<StudioState['seen'][number] | undefined> = computed(() => {
    const { seen = [] } = this.state.value ?? {};
    return seen.find(({ sagaId, request }) => [sagaId, request].includes(this.shown.value));
  });
  readonly lanes: ReadonlySignal<readonly LiveLane[]> = computed(() =>
    toLanes(this.state.value?.turns ?? [], this.sent.value, this.saga.value?.saga ?? ''),
  );
  readonly shownLane: ReadonlySignal<LiveLane | undefined> = computed(() =>
    this.lanes.value.at(Math.min(this.lane.value, this.lanes.value.length - 1)),
  );
  #loaded: string | undefined;
  #refreshing: Promise<void> | undefined;

  async follow(): Promise<never> {
    for (;;) {
      if (!document.hidden) await this.refresh();
      const isDown = this.failure.value === unreachable && !this.isKilled.value;
      const waitMs = isDown ? retryMs : pollMs;
      await new Promise((resolve) => void setTimeout(resolve, waitMs));
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
    void this.refresh().then(scrollToRun);
  }

  async start(tool: string, args: object): Promise<void> {
    this.failure.value = undefined;
    const id = crypto.randomUUID();
    this.show(id);
    const params = { name: tool, arguments: args };
    const { error } = await this.#send({ id, tool, method: 'tools/callSaga', params });
    if (error !== undefined) this.failure.value = `${tool}: ${error}`;
  }

  /**
   * Starts the shown saga again, with the same arguments. Undefined if its tool is not served, or
   * its first turn is unknown.
   */
  get runAgain(): (() => void) | undefined {
    const { saga: tool } = this.saga.value ?? {};
    const { args } = this.state.value?.turns.find(({ action }) => action === 'start') ?? {};
    if (args === undefined || !this.tools.value.some(({ name }) => name === tool)) return undefined;
    return () => void this.start(tool as string, JSON.parse(args) as object);
  }

  /**
   * Sends the token of a turn, the newest one or an older one. Without answers, the saga waits for
   * nothing but time.
   */
  async resume(from: Sent, completedSteps: readonly object[] = []): Promise<void> {
    const before = this.lanes.value.length;
    await this.#use(from, 'tools/resumeSaga', { completedSteps });
    if (this.lanes.value.length > before) this.lane.value = this.lanes.value.length - 1;
  }

  async cancel(from: Sent): Promise<void> {
    await this.#use(from, 'tools/cancelSaga', { reason: 'cancelled in the studio' });
  }

  /** Kills the serving process, which therefore sends no response. */
  async kill(): Promise<void> {
    this.isKilled.value = true;
    await fetch('kill', { method: 'POST' }).catch(() => undefined);
    await this.refresh();
  }

  /** Opens a token with the key of the server. Returns a sentence if it does not open. */
  async inspect(token: string): Promise<SagaInspection | string> {
    try {
      const response = await fetch('inspect', { method: 'POST', body: token });
      return response.ok ? ((await response.json()) as SagaInspection) : await response.text();
    } catch {
      return unreachable;
    }
  }

  async #use(
    { tool, id: parent, reply }: Sent,
    method: Sent['method'],
    more: object,
  ): Promise<void> {
    const params = { sagaToken: reply?.sagaToken, ...more };
    const keepFocus = watchFocus();
    await this.#send({ id: crypto.randomUUID(), tool, parent, method, params });
    keepFocus();
  }

  async #send(request: Sent): Promise<Sent> {
    const { params = {}, ...facts } = request;
    this.#note(request);
    const path = this.state.value?.mcp ?? '';
    const sent: Sent = await sendRequest<SagaReply>(path, this.bearer.value, {
      ...facts,
      params,
    }).then(
      (reply) => ({ ...facts, reply }),
      // The request has no response: `#continue` sends it again to the next process.
      (error: Error) =>
        error instanceof TypeError && request.parent !== undefined
          ? request
          : { ...facts, error: error.message },
    );
    this.#note(sent);
    // A load that began before the response may lack the turn.
    await this.#refreshing;
    await this.refresh();
    this.#resumeLater(sent);
    return sent;
  }

  #note(sent: Sent): void {
    this.sent.value = [...this.sent.value.filter(({ id }) => id !== sent.id), sent];
  }

  /**
   * Continues after a reload: sends unanswered requests again, which the guard recognizes, and
   * continues waiting sagas.
   */
  #continue(): void {
    for (const sent of this.sent.value) {
      if (sent.parent !== undefined && sent.params !== undefined) void this.#send(sent);
      else this.#resumeLater(sent);
    }
  }

  #resumeLater(sent: Sent): void {
    const { sagaToken, steps = [], retryAfterMs = 0 } = sent.reply ?? {};
    if (sagaToken === undefined || steps.length > 0 || retryAfterMs > longestWaitMs) return;
    // The person may continue or cancel the saga before.
    const isNewest = (): boolean => this.sent.value.every(({ parent }) => parent !== sent.id);
    setTimeout(() => void (isNewest() && this.resume(sent)), retryAfterMs);
  }

  /**
   * Fetches the newest token of the shown saga if the queue has continued it, for example after an
   * approval. The page could not answer the next question without it.
   */
  #catchUp(): void {
    const { value: lane } = this.shownLane;
    if (lane === undefined || unheldTurn(lane) === undefined) return;
    const held = lane.tokens.findLast(({ sent }) => sent?.reply?.sagaToken !== undefined)?.sent;
    if (held === undefined) return;
    // A killed process may leave its turn to the queue, and refuse the client meanwhile.
    const tries = this.sent.value.filter(({ parent }) => parent === held.id);
    if (tries.length < 3 && tries.every(({ error }) => error !== undefined)) void this.resume(held);
  }

  async #load(): Promise<void> {
    const { value: before } = this.state;
    const saga = this.saga.value?.sagaId ?? '';
    const after = this.#loaded === saga ? String(before?.revision) : '';
    try {
      const response = await fetch(`state?${new URLSearchParams({ saga, after })}`);
      if (this.failure.value === unreachable) this.failure.value = undefined;
      if (response.status === 204) return;
      const state = (await response.json()) as StudioState;
      this.state.value = state;
      this.#loaded = saga;
      const isOther = before?.process?.id !== state.process?.id;
      if (isOther) this.isKilled.value = false;
      if (state.mcp !== undefined && (before === undefined || isOther)) this.#continue();
      if (state.mcp !== undefined && before?.reloads !== state.reloads) await this.loadTools();
      if (state.mcp !== undefined) this.sources.value = await loadSources(this.sources.value);
      // The turns of a saga that this state mentions first.
      if ((this.saga.value?.sagaId ?? '') !== saga) await this.#load();
      this.#catchUp();
    } catch {
      this.failure.value = unreachable;
    }
  }

  /** Lists the tools of the server that are sagas. */
  async loadTools(): Promise<void> {
    const { mcp = '' } = this.state.value ?? {};
    const request = { id: crypto.randomUUID(), method: 'tools/list', params: {} };
    try {
      const { tools } = await sendRequest<ToolList>(mcp, this.bearer.value, request);
      this.tools.value = tools.filter((tool) => methodsOf(tool).includes('tools/callSaga'));
    } catch (error) {
      this.failure.value = `The server does not list its tools: ${(error as Error).message}`;
    }
  }
}

const unreachable = 'The server does not answer.';
