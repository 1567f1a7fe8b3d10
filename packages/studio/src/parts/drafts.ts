import type { SourceFile } from '../model/session.ts';

/** Edited files of an example, or of the code of a link, by the name of the file. */
type Draft = readonly [of: string, texts: Readonly<Record<string, string>>];

const place = 'mcp-saga playground drafts';

/** Number of drafts that the browser keeps. Links are long, and the storage of a site is small. */
const most = 20;

/** Returns files as the person left them; the same array without a draft. */
export function withDraft(of: string, files: readonly SourceFile[]): readonly SourceFile[] {
  const texts = readDrafts().find(([each]) => each === of)?.[1] ?? {};
  const isEdited = files.some(({ name, text }) => (texts[name] ?? text) !== text);
  return isEdited ? files.map(({ name, text }) => ({ name, text: texts[name] ?? text })) : files;
}

/** Keeps the files that differ from their originals, as the newest draft. */
export function keepDraft(
  of: string,
  files: readonly SourceFile[],
  originals: readonly SourceFile[],
): void {
  const edited = files.filter(({ text }, at) => text !== originals[at]?.text);
  const texts = Object.fromEntries(edited.map(({ name, text }) => [name, text]));
  const others = readDrafts().filter(([each]) => each !== of);
  const drafts: readonly Draft[] = edited.length === 0 ? others : [...others, [of, texts]];
  try {
    localStorage.setItem(place, JSON.stringify(drafts.slice(-most)));
  } catch {
    // A browser without room, or with a blocked storage: the edits end with the page.
  }
}

function readDrafts(): readonly Draft[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(stored) ? (stored as readonly Draft[]) : [];
  } catch {
    return [];
  }
}
