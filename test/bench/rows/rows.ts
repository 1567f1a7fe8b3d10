import type { Row } from '../row.ts';
import { bundle } from './bundle.ts';
import { commitEach } from './commit-each.ts';
import { journalBytes } from './journal-bytes.ts';
import { load } from './load.ts';
import { machine } from './machine.ts';
import { replay } from './replay.ts';
import { resume } from './resume.ts';
import { sealOpen } from './seal-open.ts';
import { tokenBytes } from './token-bytes.ts';
import { twoQuestions } from './two-questions.ts';

/** The rows, by the name that `pnpm bench <name>` knows them by. */
export const rows: Readonly<Record<string, Row>> = {
  'seal-open': sealOpen,
  replay,
  resume,
  'two-questions': twoQuestions,
  'commit-each': commitEach,
  load,
  'journal-bytes': journalBytes,
  'token-bytes': tokenBytes,
  machine,
  bundle,
};
