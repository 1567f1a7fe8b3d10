import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { z } from 'zod';
import {
  keyOf,
  toText,
  type Contender,
  type Order,
  type Served,
  type World,
} from '../contender.ts';
import { description, input } from '../sdk-tool.ts';

interface Refunded {
  readonly id: string;
}
interface Ended {
  readonly status: string;
  readonly result?: Refunded;
}
interface Run {
  start(options: { readonly inputData: Order }): Promise<Ended>;
  restart(): Promise<Ended>;
}
interface Workflow {
  then(step: unknown): Workflow;
  commit(): Workflow;
  createRun(options?: { readonly runId: string }): Promise<Run>;
  getWorkflowRunById(runId: string): Promise<Ended | null>;
}
interface Execution {
  readonly inputData: Order;
  readonly runId: string;
}
interface Context {
  readonly mcp?: { readonly extra: { readonly _meta?: { readonly [name: string]: unknown } } };
}
interface Workflows {
  readonly createStep: (options: {
    readonly id: string;
    readonly inputSchema: unknown;
    readonly outputSchema: unknown;
    readonly execute: (execution: Execution) => Promise<Refunded>;
  }) => unknown;
  readonly createWorkflow: (options: object) => Workflow;
}
interface Tools {
  readonly createTool: (options: {
    readonly id: string;
    readonly description: string;
    readonly inputSchema: unknown;
    readonly execute: (order: Order, context: Context) => Promise<string>;
  }) => unknown;
}
interface Core {
  readonly Mastra: new (options: object) => { getWorkflow(name: string): Workflow };
}
interface Mcp {
  readonly MCPServer: new (options: object) => {
    startHTTP(options: object): Promise<void>;
  };
}
interface LibSql {
  readonly LibSQLStore: new (options: object) => unknown;
}

const packages = ['@mastra/core@1.71.0', '@mastra/mcp@2.0.0', '@mastra/libsql@1.23.1'];

/**
 * A workflow whose only step refunds, with a storage. In an object, since a workflow has a method
 * `then`, which `await` would call.
 *
 * @param toKey - returns the key for the provider
 */
async function workflowOf(
  { provider, database, load }: World,
  toKey: (runId: string) => string | undefined,
): Promise<{ readonly workflow: Workflow }> {
  const { createStep, createWorkflow } = (await load('@mastra/core/workflows')) as Workflows;
  const { Mastra } = (await load('@mastra/core')) as Core;
  const { LibSQLStore } = (await load('@mastra/libsql')) as LibSql;
  const outputSchema = z.object({ id: z.string() });
  const pay = createStep({
    id: 'pay',
    inputSchema: input,
    outputSchema,
    execute: ({ inputData: { order, euros }, runId }) =>
      provider.refund(order, euros, toKey(runId)),
  });
  const schemas = { inputSchema: input, outputSchema };
  const refund = createWorkflow({ id: 'refund', description, ...schemas })
    .then(pay)
    .commit();
  const mastra = new Mastra({
    workflows: { refund },
    storage: new LibSQLStore({ id: 'storage', url: `file:${database}` }),
    logger: false,
  });
  return { workflow: mastra.getWorkflow('refund') };
}

/** Serves tools or workflows over HTTP, as the docs of `MCPServer` show. */
async function serve({ load }: World, served: object): Promise<Served> {
  const { MCPServer } = (await load('@mastra/mcp')) as Mcp;
  const server = new MCPServer({ id: 'shop', name: 'shop', version: '1.0.0', ...served });
  const listener: RequestListener = (req, res) => {
    const url = new URL(req.url ?? '', `http://${req.headers.host}`);
    void server.startHTTP({ url, httpPath: '/mcp', req, res });
  };
  return { listener };
}

/** `MCPServer` makes a tool of the workflow. */
async function openPlain(world: World): Promise<Served> {
  const { workflow } = await workflowOf(world, () => undefined);
  return await serve(world, { tools: {}, workflows: { refund: workflow } });
}

/** A tool that finds the run of the workflow by the key of the client. */
async function openByKey(world: World): Promise<Served> {
  const { workflow } = await workflowOf(world, (runId) => `${runId}/pay`);
  const { createTool } = (await world.load('@mastra/core/tools')) as Tools;
  const refund = createTool({
    id: 'refund',
    description,
    inputSchema: input,
    execute: async (order, { mcp }) => {
      const runId = keyOf(mcp?.extra) ?? randomUUID();
      const known = await workflow.getWorkflowRunById(runId);
      if (known?.status === 'success' && known.result !== undefined)
        return toText(order, known.result.id);
      const run = await workflow.createRun({ runId });
      const isActive = known?.status === 'running' || known?.status === 'waiting';
      const { status, result } = isActive
        ? await run.restart()
        : await run.start({ inputData: order });
      if (result === undefined) throw new Error(`The refund is ${status}.`);
      return toText(order, result.id);
    },
  });
  return await serve(world, { tools: { refund } });
}

/** A workflow with a storage, which `MCPServer` serves as a tool. */
export const mastra: Contender = {
  name: 'Mastra',
  authorWrote: 'a storage',
  packages,
  hasKey: true,
  open: openPlain,
};

/** The same, but the run is found by the key of the client. */
export const mastraByKey: Contender = {
  name: 'Mastra, run by key',
  authorWrote:
    'a storage, a tool that looks for a run with the key of the client as `runId` and returns its ' +
    'result or restarts it, and a key for the provider',
  packages,
  hasKey: true,
  open: openByKey,
};
