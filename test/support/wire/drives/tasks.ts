import { WireError, type Fields } from '../channel.ts';
import { endless, maxRounds, type Drive } from './drive.ts';
import { inRounds, responsesTo, type InputRequests } from './multi-round-trip.ts';

interface Task {
  readonly status: string;
  readonly inputRequests?: InputRequests;
  readonly result?: Fields;
  readonly error?: ConstructorParameters<typeof WireError>[0];
  readonly statusMessage?: string;
  readonly pollIntervalMs?: number;
}

/** `tools/call` as a task: `tasks/get` until it ends, and `tasks/update` with answers. */
export const tasks: Drive = async (driving, call) => {
  // A saga that does not run as a task uses multi round-trip requests.
  const begun = await inRounds(driving, call, (params) => driving.send('tools/call', params));
  if (begun['resultType'] !== 'task') return begun;
  const taskId = driving.holds(begun['taskId']);
  const answered = new Set<string>();
  for (let round = 0; round < maxRounds; round += 1) {
    const task = (await driving.send('tasks/get', { taskId })) as unknown as Task;
    const { status, inputRequests = {}, result = {}, error, pollIntervalMs = 1_000 } = task;
    if (status === 'completed') return result;
    if (status === 'failed')
      throw new WireError(error ?? { code: -32_603, message: 'The task failed.' });
    if (status === 'cancelled')
      throw new WireError({ code: -32_800, message: 'The task was cancelled.' });
    const open = Object.fromEntries(
      Object.entries(inputRequests).filter(([key]) => !answered.has(key)),
    );
    if (Object.keys(open).length === 0) {
      await driving.wait(pollIntervalMs);
      continue;
    }
    const inputResponses = await responsesTo(driving, open);
    for (const key of Object.keys(open)) answered.add(key);
    await driving.send('tasks/update', { taskId, inputResponses });
  }
  throw endless(call);
};
