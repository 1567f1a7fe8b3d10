import { randomUUID } from 'node:crypto';
import { toText, type Contender, type Order, type Served, type World } from '../contender.ts';
import { openForSqliteSaver } from '../node-sqlite.ts';
import { sdkTool } from '../sdk-tool.ts';

interface State extends Order {
  readonly refundId: string;
}
interface Config {
  readonly configurable: { readonly thread_id: string };
}
interface Graph {
  invoke(input: Order | null, options: Config & { readonly durability: 'sync' }): Promise<State>;
  getState(config: Config): Promise<{
    readonly values: Partial<State>;
    readonly next: readonly string[];
  }>;
}
interface Builder {
  addNode(name: string, run: (state: State, config: Config) => Promise<object>): Builder;
  addEdge(from: string, to: string): Builder;
  compile(options: { readonly checkpointer: unknown }): Graph;
}
interface Main {
  readonly Annotation: (() => unknown) & { Root(channels: object): unknown };
  readonly StateGraph: new (state: unknown) => Builder;
  readonly START: string;
  readonly END: string;
}
interface Saver {
  readonly SqliteSaver: new (database: unknown) => unknown;
}

const packages = [
  '@langchain/langgraph@1.7.3',
  '@langchain/core@1.4.0',
  '@langchain/langgraph-checkpoint-sqlite@1.0.4',
];

/**
 * A graph with a checkpointer, whose only node refunds.
 *
 * @param toKey - returns the key for the provider
 */
async function compile(
  { provider, database, load }: World,
  toKey: (config: Config) => string | undefined,
): Promise<Graph> {
  const { Annotation, StateGraph, START, END } = (await load('@langchain/langgraph')) as Main;
  const { SqliteSaver } = (await load('@langchain/langgraph-checkpoint-sqlite')) as Saver;
  const channels = { order: Annotation(), euros: Annotation(), refundId: Annotation() };
  return new StateGraph(Annotation.Root(channels))
    .addNode('pay', async ({ order, euros }, config) => {
      const { id } = await provider.refund(order, euros, toKey(config));
      return { refundId: id };
    })
    .addEdge(START, 'pay')
    .addEdge('pay', END)
    .compile({ checkpointer: new SqliteSaver(await openForSqliteSaver(database)) });
}

// Without it, a checkpoint may be written after the node that follows.
const durability = 'sync';

/** A thread for each call. */
async function openPlain(world: World): Promise<Served> {
  const graph = await compile(world, () => undefined);
  return sdkTool(async (order) => {
    const configurable = { thread_id: randomUUID() };
    const { refundId } = await graph.invoke(order, { configurable, durability });
    return toText(order, refundId);
  });
}

/** One thread for all calls with the same key. */
async function openByKey(world: World): Promise<Served> {
  const graph = await compile(world, ({ configurable }) => `${configurable.thread_id}/pay`);
  return sdkTool(async (order, key) => {
    const configurable = { thread_id: key ?? randomUUID() };
    const { values, next } = await graph.getState({ configurable });
    const isEnded = next.length === 0 && values.refundId !== undefined;
    // Without an input, the graph goes on from its last checkpoint.
    const { refundId } = isEnded
      ? (values as State)
      : await graph.invoke(next.length === 0 ? order : null, { configurable, durability });
    return toText(order, refundId);
  });
}

/** A graph with a checkpointer, and a thread for each call. */
export const langGraph: Contender = {
  name: 'LangGraph',
  authorWrote: 'a checkpointer',
  packages,
  hasKey: true,
  open: openPlain,
};

/** The same, but the thread is found by the key of the client. */
export const langGraphByKey: Contender = {
  name: 'LangGraph, thread by key',
  authorWrote:
    'a checkpointer, the key of the client as `thread_id`, a look at the state before `invoke`, ' +
    'and a key for the provider',
  packages,
  hasKey: true,
  open: openByKey,
};
