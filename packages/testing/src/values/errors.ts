import { SagaError } from '@mcp-saga/server';

/** Cause of an error of the test kit. */
export type TestErrorCode =
  | 'unanswered'
  | 'answer_not_accepted'
  | 'not_deterministic'
  | 'replay_mismatch'
  | 'floating'
  | 'no_result'
  | 'script'
  | 'violated'
  | 'no_cases'
  | 'wire_cut';

/** Error of the test kit. The message says what to do. */
export class SagaTestError extends SagaError {
  declare readonly code: TestErrorCode;

  constructor(code: TestErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, { ...options, code, public: false });
    this.name = 'SagaTestError';
  }
}
