import type { ClientStep } from '../model/client-step.ts';
import type { JournalledSpec } from '../model/command.ts';
import { formOf } from '../values/form-of.ts';
import { assertJson, type Json } from '../values/json.ts';

/**
 * The MCP request a pending command stands for, or undefined where it asks nothing (a checkpoint, a server step).
 *
 * @throws TypeError where MCP cannot express what the author asks, naming the path
 */
export function toClientStep(spec: JournalledSpec, stepId: string): ClientStep | undefined {
  switch (spec.kind) {
    case 'elicit':
      return {
        type: 'elicitation',
        stepId,
        params: { message: spec.message, requestedSchema: formOf(spec.id, spec.schema) },
      };
    case 'elicitUrl':
      return { type: 'elicitation', stepId, params: { mode: 'url', message: spec.message, url: spec.url } };
    case 'sample': {
      const { params } = spec;
      const sent: unknown = { ...params };
      assertJson(sent, { where: `params of sample('${spec.id}')` });
      return { type: 'sampling', stepId, params: sent as { readonly [key: string]: Json } };
    }
    case 'roots':
      return { type: 'roots', stepId, params: {} };
    case 'checkpoint':
    case 'step':
    case 'call':
    case 'now':
    case 'random':
    case 'uuid':
    case 'info':
    case 'sleep':
    case 'poll':
    case 'stepKey':
      return undefined;
  }
}
