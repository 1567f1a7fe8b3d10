import type { RecordedEnd } from './recorded.ts';
import { show } from '../show.ts';

/** How a saga ended, as a line of a comparison has it. */
export function endText(end: RecordedEnd): string {
  switch (end.status) {
    case 'completed':
      return `completed: ${show(end.result)}`;
    case 'failed':
      return `failed: ${end.error.name}: ${end.error.message}`;
    case 'continued':
      return `went on as ${end.saga} ${end.version}`;
  }
}
