import type { Program } from '@mcp-saga/server';

/** Sagas whose questions the calling model may answer, too, unless they say otherwise. */
export function askingModels(sagas: readonly Program[]): readonly Program[] {
  return sagas.map((saga) => asking(saga));
}

function asking(saga: Program): Program {
  const previous = saga.previous.map((older) => ({ ...older, saga: asking(older.saga) }));
  return { answeredBy: ['client', 'model', 'fallback'], ...saga, previous };
}
