import type { Candidate } from '../harness.ts';
import type { Load } from './load.ts';

// The used part of its API. Its public types offer no way to run an orchestrator offline.
interface Context {
  readonly df: {
    callActivity(name: string, input: unknown): unknown;
    waitForExternalEvent(name: string): unknown;
  };
}
interface Testing {
  createOrchestrator(
    body: (context: Context) => Generator<unknown, unknown, { readonly id: string }>,
  ): (trigger: unknown, context: unknown) => Promise<{ readonly isDone: boolean }>;
  readonly DummyOrchestrationContext: new (name: string, id: string, log: () => void) => unknown;
  readonly DurableOrchestrationInput: new (id: string, history: readonly unknown[]) => unknown;
}
interface History {
  readonly HistoryEventType: Readonly<Record<string, number>>;
}

/**
 * Replays a history in the format of its extension: four events per activity, one of which contains
 * the result.
 */
export function loadDurableFunctions(load: Load): (entries: number) => Candidate {
  const testing = load('durable-functions/lib/src/util/testingUtils') as Testing;
  const { HistoryEventType: types } = load(
    'durable-functions/lib/src/history/HistoryEventType',
  ) as History;
  const event = (type: string, more: object = {}): object => ({
    EventId: -1,
    EventType: types[type],
    IsPlayed: true,
    Timestamp: new Date(0),
    ...more,
  });
  return (entries) => {
    const history = [
      event('OrchestratorStarted'),
      event('ExecutionStarted', { Name: 'bench', Input: '{}' }),
    ];
    for (let index = 0; index < entries; index += 1) {
      history.push(
        event('TaskScheduled', { EventId: index, Name: 'charge', IsPlayed: false }),
        event('OrchestratorCompleted'),
        event('OrchestratorStarted'),
        event('TaskCompleted', { TaskScheduledId: index, Result: '{"id":"ch_1"}' }),
      );
    }
    const orchestrator = testing.createOrchestrator(function* (context) {
      let charged = 0;
      for (let index = 0; index < entries; index += 1) {
        charged += (yield context.df.callActivity('charge', {})).id.length;
      }
      yield context.df.waitForExternalEvent('last');
      return `${charged}`;
    });
    return {
      name: 'durable-functions',
      run: async (times) => {
        for (let count = 0; count < times; count += 1) {
          const context = new testing.DummyOrchestrationContext('bench', 'bench', () => {});
          const { isDone } = await orchestrator(
            new testing.DurableOrchestrationInput('bench', history),
            context,
          );
          if (isDone) throw new Error('The orchestrator did not wait');
        }
      },
    };
  };
}
