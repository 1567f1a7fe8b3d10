import { describe, it } from 'vitest';
import { eras, type Era } from '../../packages/server/test/fixtures/raw.ts';

/** One statement or example exchange of a proposal, and the exchange that shows it. */
export interface Statement {
  /** Keyword of the statement, or `example` for an exchange shown in the proposal. */
  readonly level: 'example' | 'must' | 'should' | 'should not' | 'may';
  /** Content of the statement, paraphrased. */
  readonly says: string;
  /** Runs the exchange on real servers, and fails if the statement does not hold. */
  readonly holds: (era: Era) => Promise<void>;
}

/** Tests each statement of a proposal, in both protocol eras. */
export function testStatements(proposal: string, statements: readonly Statement[]): void {
  describe.each(eras)(`${proposal}, %s`, (era) => {
    const rows = statements.map(({ level, says, holds }) => [level, says, holds] as const);
    it.each(rows)('[W1] %s: %s', async (_level, _says, holds) => {
      await holds(era);
    });
  });
}
