/**
 * AWS durable functions on this machine: the local runner of AWS' testing package keeps the
 * operations of an execution, and invokes the function.
 *
 * The runner does not kill an invocation. After a death, this class invokes the function that was
 * deployed next, with the operations that the runner has: what the service does for a dead sandbox.
 * What the dead invocation does from then on counts no more.
 */
import { once, EventEmitter } from 'node:events';

/** The used part of the context of a durable function. */
export interface DurableContext {
  readonly executionContext: { readonly durableExecutionArn: string };
  step<Result>(name: string, run: () => Promise<Result>): Promise<Result>;
  wait(name: string, duration: { readonly seconds: number }): Promise<void>;
  waitForCallback(name: string, submit: (callbackId: string) => Promise<void>): Promise<string>;
}

interface State {
  readonly Operations: readonly unknown[];
  readonly NextMarker: string;
}
interface Position {
  readonly DurableExecutionArn: string;
  readonly CheckpointToken: string;
}
interface Client {
  checkpoint(request: Position): Promise<{ readonly CheckpointToken?: string }>;
  getExecutionState(request: Position & { readonly Marker: string }): Promise<State>;
}
interface Invocation extends Position {
  readonly InitialExecutionState: State;
  readonly durableExecutionClient: Client;
}
type Lambda = (invocation: Invocation, context: unknown) => Promise<unknown>;

/** The used part of `@aws/durable-execution-sdk-js`. */
export interface DurableSdk {
  readonly withDurableExecution: (
    handler: (input: never, context: DurableContext) => Promise<unknown>,
  ) => Lambda;
  readonly DurableExecutionInvocationInputWithClient: new (
    invocation: object,
    client: Client,
  ) => Invocation;
}

interface Operation {
  waitForData(status: string): Promise<Operation>;
  sendCallbackSuccess(result: string): Promise<unknown>;
}
/** A run of a function in the local runner. */
export interface Runner {
  run(request: { readonly payload: unknown }): Promise<{
    getStatus(): string;
    getResult(): unknown;
  }>;
  getOperation(name: string): Operation;
}
/** The used part of `@aws/durable-execution-sdk-js-testing`. */
export interface Testing {
  readonly LocalDurableTestRunner: {
    new (options: { readonly handlerFunction: Lambda }): Runner;
    setupTestEnvironment(options: { readonly skipTime: boolean }): Promise<void>;
    teardownTestEnvironment(): Promise<void>;
  };
  readonly WaitingOperationStatus: { readonly SUBMITTED: string };
}

interface Deployed {
  readonly run: Lambda;
  readonly death: Promise<void>;
}

/** Starts executions of the deployed function, and completes their callbacks. */
export class LocalLambda {
  readonly #sdk: DurableSdk;
  readonly #testing: Testing;
  readonly #callback: string;
  readonly #results = new Map<string, Promise<unknown>>();
  readonly #runners = new Map<string, Runner>();
  readonly #deployments = new EventEmitter();
  #deployed: Deployed | undefined;
  #toldCallback: (id: string) => void = () => undefined;

  /** @param callback - name of the only callback that the function waits for */
  constructor(sdk: DurableSdk, testing: Testing, callback: string) {
    this.#sdk = sdk;
    this.#testing = testing;
    this.#callback = callback;
  }

  /** Later invocations run `run`, until `death`. */
  deploy(run: Lambda, death: Promise<void>): void {
    this.#deployed = { run, death };
    this.#deployments.emit('deployed');
  }

  /** Starts an execution. Resolves when its function waits for a callback. */
  async start(payload: object): Promise<{ execution: string; callback: string }> {
    const { LocalDurableTestRunner, WaitingOperationStatus } = this.#testing;
    if (this.#results.size === 0)
      await LocalDurableTestRunner.setupTestEnvironment({ skipTime: false });
    const told = new Promise<string>((resolve) => {
      this.#toldCallback = resolve;
    });
    const runner = new LocalDurableTestRunner({
      handlerFunction: (invocation, context) => this.#invoke(invocation, context),
    });
    const result = runner.run({ payload }).then((ended) => ended.getResult());
    const callback = await told;
    await runner.getOperation(this.#callback).waitForData(WaitingOperationStatus.SUBMITTED);
    const execution = `execution-${this.#results.size}`;
    this.#results.set(execution, result);
    this.#runners.set(callback, runner);
    return { execution, callback };
  }

  /** Called by the function, which passes its callback on. */
  async tellCallback(id: string): Promise<void> {
    this.#toldCallback(id);
  }

  /** Sends the result of a callback to the function that waits for it. */
  async completeCallback(id: string, result: string): Promise<void> {
    await this.#runners.get(id)!.getOperation(this.#callback).sendCallbackSuccess(result);
  }

  /** Waits for the end of an execution. */
  async resultOf(execution: string): Promise<unknown> {
    return await this.#results.get(execution)!;
  }

  /** Ends all executions, and what keeps them. */
  async close(): Promise<void> {
    for (const id of this.#runners.keys()) await this.completeCallback(id, 'no');
    await Promise.all(this.#results.values());
    await this.#testing.LocalDurableTestRunner.teardownTestEnvironment();
  }

  async #invoke(invocation: Invocation, context: unknown): Promise<unknown> {
    const { DurableExecutionInvocationInputWithClient: Input } = this.#sdk;
    const { DurableExecutionArn, durableExecutionClient: client } = invocation;
    let { CheckpointToken, InitialExecutionState } = invocation;
    for (;;) {
      const deployed = this.#deployed!;
      const { run, death } = deployed;
      let isDead = false;
      const sent = new Set<Promise<unknown>>();
      const observed: Client = {
        getExecutionState: (request) => client.getExecutionState(request),
        checkpoint: async (request) => {
          if (isDead) return await new Promise(() => undefined);
          const responding = client.checkpoint(request);
          sent.add(responding);
          const response = await responding;
          CheckpointToken = response.CheckpointToken ?? CheckpointToken;
          return response;
        },
      };
      const input = { ...invocation, CheckpointToken, InitialExecutionState };
      const killed = death.then(() => 'killed');
      const ended = await Promise.race([run(new Input(input, observed), context), killed]);
      if (ended !== 'killed') return ended;
      isDead = true;
      if (this.#deployed === deployed) await once(this.#deployments, 'deployed');
      // Requests that left the sandbox before its death arrive, as they do at the service.
      await Promise.allSettled(sent);
      const position = { DurableExecutionArn, CheckpointToken, Marker: '' };
      InitialExecutionState = await client.getExecutionState(position);
    }
  }
}
