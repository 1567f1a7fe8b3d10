import { testHost } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { complexTool } from './saga.ts';

const answers = {
  'step-elicitation-A': { target: 'production' },
  'step-sampling-B': 'Yes, all is green.',
};

it.each(['2026-07-28', '2025-11-25'] as const)(
  '[W1] deploys once for a client of MCP %s',
  async (era) => {
    const wire = testHost({ sagas: [complexTool], answerers: { model: 'accept' } });
    const client = wire.client({ era, answers });

    const { content } = await client.call('complex_tool', { initial_arg: 'value' });

    const text = 'Deployment to production initiated successfully based on confirmation.';
    expect(content).toEqual([{ type: 'text', text }]);
    expect(wire.effects).toMatchObject([{ id: 'deploy', runs: 1 }]);
    await wire.close();
  },
);
