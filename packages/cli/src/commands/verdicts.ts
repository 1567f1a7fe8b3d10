import { SagaTestError } from '@mcp-saga/testing';

/** Runs a check of the test kit, and returns its report, or its problem. */
export async function judged<T>(
  check: () => Promise<T>,
): Promise<T | Record<'problem' | 'code', string>> {
  try {
    return await check();
  } catch (error) {
    // A broken recording is a SyntaxError.
    if (!(error instanceof SagaTestError || error instanceof SyntaxError)) throw error;
    return { problem: error.message, code: error instanceof SagaTestError ? error.code : 'failed' };
  }
}

export function verdictOf(what: string, problem: string | undefined): string {
  return problem === undefined
    ? `ok    ${what}`
    : `FAIL  ${what}\n${problem.replaceAll(/^/gm, '      ')}`;
}
