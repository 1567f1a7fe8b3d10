import type { Row } from '../row.ts';
import { allSteps } from './all.ts';
import { bundle } from './bundle.ts';
import { coldStart } from './cold-start.ts';
import { commitEach } from './commit-each.ts';
import { guarded } from './guarded.ts';
import { guardedDatabases } from './guarded-databases.ts';
import { guards } from './guards.ts';
import { hostile } from './hostile.ts';
import { journalBytes } from './journal-bytes.ts';
import { load } from './load.ts';
import { loadMemory } from './load-memory.ts';
import { loadShapes } from './load-shapes.ts';
import { machine } from './machine.ts';
import { machineRequest } from './machine-request.ts';
import { outside } from './outside.ts';
import { replay } from './replay.ts';
import { resume } from './resume.ts';
import { sealOpen } from './seal-open.ts';
import { shapes } from './shapes.ts';
import { storeBytes } from './store-bytes.ts';
import { suspended } from './suspended.ts';
import { tokenBytes } from './token-bytes.ts';
import { twoQuestions } from './two-questions.ts';

/** Rows by name, as in `pnpm bench <name>`. */
export const rows: Readonly<Record<string, Row>> = {
  load,
  'load-shapes': loadShapes,
  'cold-start': coldStart,
  shapes,
  'two-questions': twoQuestions,
  'seal-open': sealOpen,
  replay,
  resume,
  all: allSteps,
  machine,
  'machine-request': machineRequest,
  guarded,
  'guarded-databases': guardedDatabases,
  guards,
  outside,
  'commit-each': commitEach,
  hostile,
  'load-memory': loadMemory,
  suspended,
  'store-bytes': storeBytes,
  'journal-bytes': journalBytes,
  'token-bytes': tokenBytes,
  bundle,
};
