import { randomUUID } from 'node:crypto';
import type { Order } from '../contender.ts';
import type { Contender } from './contender.ts';
import { ask, codecFor, isAccepted, say, serveTool } from './sdk-server.ts';

// The used part of its API, since it is not a dependency of the workspace.
interface State extends Order {
  readonly accepted: boolean;
  readonly text: string;
}
interface Config {
  readonly configurable: { readonly thread_id: string };
  readonly durability: 'sync';
}
interface Graph {
  invoke(input: unknown, config: Config): Promise<State>;
}
interface Builder {
  addNode(name: string, run: (state: State, config: Config) => Promise<object>): Builder;
  addEdge(from: string, to: string): Builder;
  addConditionalEdges(from: string, next: (state: State) => string): Builder;
  compile(options: { readonly checkpointer: unknown }): Graph;
}
interface Main {
  readonly Annotation: (() => unknown) & { Root(channels: object): unknown };
  readonly StateGraph: new (state: unknown) => Builder;
  readonly Command: new (options: { readonly resume: unknown }) => unknown;
  readonly MemorySaver: new () => unknown;
  readonly interrupt: (question: unknown) => boolean;
  readonly START: string;
  readonly END: string;
}

/** A graph with a checkpointer. A handler of the SDK starts and resumes its threads. */
export const langGraph: Contender = {
  name: 'LangGraph',
  packages: ['@langchain/langgraph@1.7.3', '@langchain/core@1.4.0'],
  open: async ({ bank, warehouse, kept, load }) => {
    const library = (await load('@langchain/langgraph')) as Main;
    const { Annotation, Command, END, interrupt, MemorySaver, START, StateGraph } = library;
    const checkpointer = kept.get('checkpointer') ?? new MemorySaver();
    kept.set('checkpointer', checkpointer);
    // #region graph
    const RefundState = Annotation.Root({
      order: Annotation(),
      euros: Annotation(),
      accepted: Annotation(),
      text: Annotation(),
    });
    const graph = new StateGraph(RefundState)
      .addNode('hold', async ({ order }) => {
        await warehouse.hold(order);
        return {};
      })
      .addNode('ask', async ({ order, euros }) => ({
        accepted: interrupt(`Refund ${euros} EUR for ${order}?`),
      }))
      .addNode('pay', async ({ order, euros }, { configurable }) => {
        const { id } = await bank.refund(order, euros, configurable.thread_id);
        return { text: `Refunded: ${id}` };
      })
      .addNode('release', async ({ order }) => {
        await warehouse.release(order);
        return { text: 'Not refunded.' };
      })
      .addEdge(START, 'hold')
      .addEdge('hold', 'ask')
      .addConditionalEdges('ask', ({ accepted }) => (accepted ? 'pay' : 'release'))
      .addEdge('pay', END)
      .addEdge('release', END)
      .compile({ checkpointer });
    // #endregion graph
    const codec = codecFor<{ thread: string }>();
    return {
      // #region handler
      fetch: serveTool(codec, async (order, ctx) => {
        const state = ctx.mcpReq.requestState<{ thread: string }>();
        const thread = state?.thread ?? randomUUID();
        const config = { configurable: { thread_id: thread }, durability: 'sync' } as const;
        if (state === undefined) {
          await graph.invoke(order, config);
          return ask(order, await codec.mint({ thread }, ctx));
        }
        const { text } = await graph.invoke(new Command({ resume: isAccepted(ctx) }), config);
        return say(text);
      }),
      // #endregion handler
    };
  },
};
