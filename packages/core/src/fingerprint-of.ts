import type { JournalledSpec } from './command-spec.ts';
import { fingerprint, fingerprintOfElicitation } from './fingerprint.ts';

/**
 * The fingerprint of what a command asks: what it says to the user, the model or the world, never its schema, which
 * may be refined while sagas run. (R3)
 */
export function fingerprintOf(spec: JournalledSpec): number {
  switch (spec.kind) {
    case 'elicit':
      return fingerprintOfElicitation(spec.message);
    case 'elicitUrl':
      return fingerprint('elicitUrl', spec.message, spec.url);
    case 'sample':
      return fingerprint('sample', spec.params.messages, spec.params.maxTokens);
    case 'step':
      return spec.input === undefined ? 0 : fingerprint('step', spec.input);
    case 'call':
      return fingerprint('call', spec.args);
    case 'sleep':
      return fingerprint('sleep', spec.ms, spec.until);
    case 'poll':
    case 'stepKey':
    case 'roots':
    case 'now':
    case 'random':
    case 'uuid':
    case 'info':
    case 'checkpoint':
      return 0;
  }
}
