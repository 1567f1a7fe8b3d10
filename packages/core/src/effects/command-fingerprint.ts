import type { JournalledSpec } from '../model/command.ts';
import {
  fingerprint,
  fingerprintOfElicitation,
  hasLong,
  isWhole,
  wholeFingerprint,
} from '../values/fingerprint.ts';

/**
 * Fingerprint of what a command asks of the user, the model, or the world. Schemas do not count, so that they may be
 * refined while sagas run.
 */
export function fingerprintOf(spec: JournalledSpec): number {
  // Most of a journal: without a list of parts.
  if (spec.kind === 'elicit') return fingerprintOfElicitation(spec.message);
  if (spec.kind === 'step' && spec.input === undefined && (spec.keep || spec.of !== undefined)) return 0;
  const legacy = legacyPartsOf(spec);
  const added = addedOf(spec);
  if (added !== undefined || legacy.some(hasLong)) return wholeFingerprint(...legacy, added);
  return legacy.length === 0 ? 0 : fingerprint(...legacy);
}

/** `true` if a recorded fingerprint fits a command, also if an older release recorded it. */
export function isFingerprintOf(recorded: number, asked: number, spec: JournalledSpec): boolean {
  if (recorded === asked) return true;
  if (!isWhole(asked) || isWhole(recorded)) return false;
  const legacy = legacyPartsOf(spec);
  return recorded === (legacy.length === 0 ? 0 : fingerprint(...legacy));
}

/** The parts that every release has hashed. Older releases skipped the middle of long strings. */
function legacyPartsOf(spec: JournalledSpec): readonly unknown[] {
  switch (spec.kind) {
    case 'elicit':
      return ['elicit', spec.message];
    case 'elicitUrl':
      return ['elicitUrl', spec.message, spec.url];
    case 'sample':
      return ['sample', spec.params.messages, spec.params.maxTokens];
    case 'step':
      return spec.input === undefined ? [] : ['step', spec.input];
    case 'call':
      return ['call', spec.args];
    case 'sleep':
      return ['sleep', spec.ms, spec.until];
    case 'poll':
    case 'stepKey':
    case 'roots':
    case 'now':
    case 'random':
    case 'uuid':
    case 'info':
    case 'checkpoint':
      return [];
  }
}

/** What older releases did not hash. Undefined if that is nothing. */
function addedOf(spec: JournalledSpec): unknown {
  if (spec.kind === 'sample') {
    const { messages: _, maxTokens: __, ...others } = spec.params;
    return others;
  }
  // The undo of a step keeps nothing by nature.
  return spec.kind === 'step' && !spec.keep && spec.of === undefined ? 'keep: false' : undefined;
}
