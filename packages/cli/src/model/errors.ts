/** The stable code of a {@link CliError}. */
export type CliErrorCode =
  | 'answer_refused'
  | 'usage'
  | 'no_file'
  | 'no_export'
  | 'no_keys'
  | 'port_in_use'
  | 'question_left'
  | 'question_unanswered'
  | 'stopped'
  | 'unreachable'
  | 'not_mcp'
  | 'no_tool'
  | 'token_refused';

/** An error of the command line: its message is one sentence. */
export class CliError extends Error {
  readonly code: CliErrorCode;

  constructor(code: CliErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'CliError';
    this.code = code;
  }

  /**
   * Exit code of the process: 130 for Ctrl-C, 3 for an unusable server, 1 for a rejected token or
   * answer, or an open question, otherwise 2.
   */
  get exitCode(): number {
    if (this.code === 'stopped') return 130;
    if (this.code === 'unreachable' || this.code === 'not_mcp') return 3;
    return ['answer_refused', 'question_unanswered', 'token_refused'].includes(this.code) ? 1 : 2;
  }
}
